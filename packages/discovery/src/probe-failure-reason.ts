import { readFrames } from './frames.ts'

/** Returns why the probe output cannot be used; null when it is complete. Incomplete output must not make a node look empty. */
export function probeFailureReason(output: Uint8Array): string | null {
  const { frames, complete } = readFrames(output)
  if (frames.length === 0) {
    const text = Buffer.from(output.subarray(0, 120))
      .toString('latin1')
      .replace(/[^\x20-\x7e]+/g, ' ')
      .trim()
    return `The shell did not run the probe${text ? ` but printed ${JSON.stringify(text)}` : ''}. Test the connection.`
  }
  return complete ? null : 'The probe output is incomplete. Discover the node again.'
}
