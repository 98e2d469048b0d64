import { Command } from '../../command.ts'
import { download } from '../../download.ts'
import { CliError, EXIT } from '../../errors.ts'
import { RUN_HELP } from '../../run-id.ts'
import { findArtifacts } from './find.ts'

export const artifactGet = () =>
  new Command('get')
    .description('download an artifact of a run')
    .argument('<run>', RUN_HELP)
    .argument('<path>', 'path, see `muster artifact list`')
    .option('-o, --output <file>', 'write to this file instead of standard output')
    .action(async (idText: string, path: string, { output }: { output?: string }) => {
      // An artifact may be named like the log, which `muster logs` downloads.
      const found = (await findArtifacts(idText)).findLast((artifact) => artifact.path === path)
      if (!found) throw new CliError(`The run has no artifact ${path}. See \`muster artifact list ${idText}\`.`, EXIT.notFound)
      if (!found.downloadUrl) throw new CliError(found.downloadBlockedReason!, EXIT.rejected)
      await download(found.downloadUrl, output)
    })
