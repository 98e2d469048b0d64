import { readFrames } from './frames.ts'

/** Why nothing is taken from this output, which must not make a node look empty; null when it can be. @param output of the probe */
export function whyNotRead(output: Uint8Array): string | null {
  const { frames, complete } = readFrames(output)
  if (frames.length === 0) {
    const said = Buffer.from(output.subarray(0, 120))
      .toString('latin1')
      .replace(/[^\x20-\x7e]+/g, ' ')
      .trim()
    return `The shell did not run the probe${said ? ` but said ${JSON.stringify(said)}` : ''}. Test the connection.`
  }
  return complete ? null : 'The probe was cut short; its output so far is kept. Discover the node again.'
}
