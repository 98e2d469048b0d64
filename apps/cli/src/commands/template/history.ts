import { Command } from 'commander'
import { ago, type Format, outputOption, printRows } from '../../output.ts'
import { findTemplate } from './fields.ts'

export const templateHistory = () =>
  new Command('history')
    .description('versions of a job template, the newest first; -o json shows what each was')
    .argument('<name>')
    .addOption(outputOption())
    .action(async (name: string, { output }: { output: Format }) => {
      const { versions } = await findTemplate(name)
      printRows(
        versions,
        [
          { title: 'VERSION', value: (v) => v.version },
          { title: 'WHEN', value: (v) => ago(v.createdAt) },
          { title: 'WHO', value: (v) => v.createdByName },
          { title: 'WHY', value: (v) => v.reason },
        ],
        output,
      )
    })
