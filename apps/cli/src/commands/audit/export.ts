import { existsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { Command } from '../../command.ts'
import { downloadLines } from '../../download.ts'
import { CliError, EXIT } from '../../errors.ts'
import { integer } from '../../options.ts'
import { write } from '../../output.ts'

/** Bytes that are read from the end of a file to find its last line. A line has at most about 100 KB. */
const TAIL_BYTES = 1024 * 1024

export const auditExport = () =>
  new Command('export')
    .description('write sealed entries, oldest first, and signed checkpoints as one JSON object per line')
    .option('--after <seq>', 'only entries after this position', integer)
    .option('--installation', 'entries without a tenant; needs an installation admin')
    .option('-o, --output <file>', 'append to this file, after its last entry: an interrupted export continues')
    .action(async ({ after, output, installation }: { after?: number; output?: string; installation?: true }) => {
      const path = (seq: number) => `/api/audit?after=${seq}${installation ? '&scope=installation' : ''}`
      if (!output) {
        for await (const line of downloadLines(path(after ?? 0))) await write(`${line}\n`)
        return
      }
      const isNew = !existsSync(output)
      const file = await open(output, isNew ? 'wx+' : 'r+', 0o600)
      try {
        const { seq, end } = await lastEntry(file, output)
        await file.truncate(end)
        let position = end
        let count = 0
        for await (const line of downloadLines(path(Math.max(seq, after ?? 0)))) {
          const { bytesWritten } = await file.write(`${line}\n`, position)
          position += bytesWritten
          count++
        }
        process.stderr.write(`${count} lines written to ${output}.\n`)
      } finally {
        await file.close()
      }
    })

/** Position in the chain of the last complete line of a file, and where that line ends. */
async function lastEntry(file: Awaited<ReturnType<typeof open>>, path: string): Promise<{ seq: number; end: number }> {
  const { size } = await file.stat()
  if (size === 0) return { seq: 0, end: 0 }
  const start = Math.max(0, size - TAIL_BYTES)
  const { buffer } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
  const end = start + buffer.lastIndexOf('\n') + 1
  const lines = buffer
    .subarray(0, end - start)
    .toString('utf8')
    .trimEnd()
    .split('\n')
  for (const line of lines.reverse())
    try {
      const { seq } = JSON.parse(line) as { seq?: unknown }
      if (typeof seq === 'number') return { seq, end }
    } catch {
      // The first line of the part may be incomplete.
    }
  if (start === 0 && lines.every((line) => line === '' || line.includes('"type":"key"'))) return { seq: 0, end }
  throw new CliError(`${path} is not an export of the audit log. Choose another file.`, EXIT.usage)
}
