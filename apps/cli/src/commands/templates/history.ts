import { Command, type Output } from '../../command.ts'
import { ago, printRows } from '../../output.ts'
import { findTemplate } from './fields.ts'

export const templateHistory = () =>
  new Command('history')
    .description('list the versions of a job template, newest first; -o json includes their settings')
    .argument('<name>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const { versions } = await findTemplate(name)
      printRows(
        versions,
        [
          { title: 'VERSION', value: (v) => v.version },
          { title: 'CREATED', value: (v) => ago(v.createdAt) },
          { title: 'BY', value: (v) => v.createdBy.name },
          { title: 'REASON', value: (v) => v.reason },
        ],
        output,
      )
    })
