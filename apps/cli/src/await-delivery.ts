import { setTimeout } from 'node:timers/promises'
import { CliError, EXIT } from './errors.ts'

const POLL_MS = 500
/** Longer than the timeout of one delivery attempt. */
const TIMEOUT_MS = 90_000

/**
 * Waits until a worker has made a test delivery to the destination `name`, and prints the outcome.
 * @param read the outcome; null while there is none
 */
export async function awaitDelivery(name: string, read: () => Promise<{ error: string | null } | null>): Promise<void> {
  for (const end = Date.now() + TIMEOUT_MS; Date.now() < end; await setTimeout(POLL_MS)) {
    const outcome = await read()
    if (!outcome) continue
    if (outcome.error !== null) throw new CliError(`Delivery to ${name} failed: ${outcome.error}`, EXIT.rejected)
    process.stderr.write(`Delivered to ${name}.\n`)
    return
  }
  throw new CliError('No worker has sent the message yet. See `muster worker list`.', EXIT.unavailable)
}
