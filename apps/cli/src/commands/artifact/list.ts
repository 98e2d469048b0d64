import { Command } from 'commander'
import { artifactsOf } from '../../artifacts.ts'
import { ago, bytes, type Format, outputOption, printRows } from '../../output.ts'

export const artifactList = () =>
  new Command('list')
    .description('the log and the files that a run left')
    .argument('<run>', 'id of the run, or `last`')
    .addOption(outputOption())
    .action(async (idText: string, { output }: { output: Format }) =>
      printRows(
        await artifactsOf(idText),
        [
          { title: 'PATH', value: (a) => a.path },
          { title: 'KIND', value: (a) => a.kind.toLowerCase() },
          { title: 'SIZE', value: (a) => bytes(a.size) },
          { title: 'KEPT', value: (a) => (a.removedAt ? `removed ${ago(a.removedAt)}` : ago(a.createdAt)) },
          { title: 'SHA256', value: (a) => a.sha256, spare: true },
        ],
        output,
        'It left nothing, or is not over yet.',
      ),
    )
