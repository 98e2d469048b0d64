import { follow } from './follow.ts'
import { bareId } from './ids.ts'

/** What a command does with a run that it has started: print its id, or follow it; the exit code says how it ended. */
export async function followStarted(run: { id: string; hostsTotal: number }, detach: true | undefined): Promise<void> {
  const id = bareId(run.id)
  if (detach) return void process.stdout.write(`${id}\n`)
  const where = `${run.hostsTotal} ${run.hostsTotal === 1 ? 'node' : 'nodes'}`
  process.stderr.write(`Run ${id} on ${where}. Ctrl-C stops following, not the run.\n`)
  process.exitCode = await follow(run.id)
}
