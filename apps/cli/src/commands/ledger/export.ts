import { open } from 'node:fs/promises'
import { Command } from '../../command.ts'
import { write } from '../../output.ts'
import { downloadLedger } from './read-ledger.ts'

export const ledgerExport = () =>
  new Command('export')
    .description('write the public keys, all entries and the newest checkpoint as one JSON object per line')
    .option('-o, --output <file>', 'create this file')
    .action(async ({ output }: { output?: string }) => {
      const file = output ? await open(output, 'wx', 0o600) : undefined
      try {
        for await (const line of downloadLedger()) {
          const text = `${JSON.stringify(line)}\n`
          if (file) await file.write(text)
          else await write(text)
        }
      } finally {
        await file?.close()
      }
    })
