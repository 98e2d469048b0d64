import { Command, type Output } from '../../command.ts'
import { ago, bytes, printRows } from '../../output.ts'
import { RUN_HELP } from '../../run-id.ts'
import { findArtifacts } from './find.ts'

export const artifactList = () =>
  new Command('list')
    .description('list the log and the artifacts of a run')
    .argument('<run>', RUN_HELP)
    .withOutput()
    .action(async (idText: string, output: Output) =>
      printRows(
        await findArtifacts(idText),
        [
          { title: 'PATH', value: (a) => a.path },
          { title: 'KIND', value: (a) => a.kind.toLowerCase() },
          { title: 'SIZE', value: (a) => bytes(a.sizeBytes) },
          { title: 'CREATED', value: (a) => (a.removedAt ? `removed ${ago(a.removedAt)}` : ago(a.createdAt)) },
          { title: 'SHA256', value: (a) => a.sha256, wide: true },
        ],
        output,
        'No artifacts. Artifacts of a run are stored when it ends.',
      ),
    )
