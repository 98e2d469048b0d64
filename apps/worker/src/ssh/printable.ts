/** Text of a machine for a message: one line of printable ASCII characters, at most `max`. */
export const printable = (text: string, max = 300): string =>
  text
    .slice(0, max)
    .replace(/\s+/g, ' ')
    .replace(/[^\x20-\x7e]/g, '?')
