import { isMainThread } from 'node:worker_threads'

// Preloaded (`node --import`) into every process that the supervisor starts. Ends the process when its channel to the supervisor
// closes, which also happens when the supervisor is killed. Removed from execArgv: forked children have a channel of their own.
if (isMainThread) {
  const index = process.execArgv.indexOf('--import')
  if (index >= 0) process.execArgv.splice(index, 2)
  process.once('disconnect', () => {
    process.kill(process.pid, 'SIGTERM')
    setTimeout(() => process.exit(1), 30_000).unref()
  })
  process.channel?.unref()
}
