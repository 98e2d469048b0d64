// Preloaded (`node --import`) into every process that the supervisor starts: ends it when the channel to the supervisor closes, which
// is what a killed supervisor leaves behind.
process.once('disconnect', () => {
  process.kill(process.pid, 'SIGTERM')
  setTimeout(() => process.exit(1), 30_000).unref()
})
process.channel?.unref()
