import { Command, type Output } from '../../../command.ts'
import { allBundles } from '../../../lookup.ts'
import { ago, bytes, printRows } from '../../../output.ts'

export const bundleList = () =>
  new Command('list')
    .description('list uploaded playbook bundles and their users')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await allBundles(),
        [
          { title: 'SHA256', value: (b) => b.sha256.slice(0, 12) },
          { title: 'NAME', value: (b) => b.name },
          { title: 'SIZE', value: (b) => bytes(b.sizeBytes) },
          { title: 'UPLOADED', value: (b) => `${ago(b.createdAt)} by ${b.createdBy.name}` },
          { title: 'IN USE', value: (b) => b.deleteBlockedReason ?? 'no' },
        ],
        output,
        'No bundles.',
      )
    })
