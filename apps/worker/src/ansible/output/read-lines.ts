import { StringDecoder } from 'node:string_decoder'

/**
 * Yields the lines of a stream without their line ends, one batch per chunk. Nothing is read while the consumer is busy, so a flood
 * waits in the pipe. Lines are truncated to `max` characters.
 */
export async function* readLines(stream: AsyncIterable<Buffer>, max: number): AsyncGenerator<string[], void> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  let isOverlong = false
  const add = (piece: string) => {
    if (rest.length + piece.length > max) {
      rest += piece.slice(0, max - rest.length)
      isOverlong = true
    } else if (!isOverlong) rest += piece
  }
  for await (const chunk of stream) {
    const pieces = decoder.write(chunk).split('\n')
    const lines: string[] = []
    for (const [i, piece] of pieces.entries()) {
      add(piece)
      if (i === pieces.length - 1) break
      lines.push(rest)
      rest = ''
      isOverlong = false
    }
    if (lines.length > 0) yield lines
  }
  add(decoder.end())
  if (rest !== '') yield [rest]
}
