import { Command } from 'commander'
import { artifactsOf } from '../../artifacts.ts'
import { download } from '../../download.ts'
import { CliError, EXIT } from '../../errors.ts'

export const artifactGet = () =>
  new Command('get')
    .description('download a file that a run left')
    .argument('<run>', 'id of the run, or `last`')
    .argument('<path>', 'as `muster artifact list` shows it')
    .option('-o, --output <file>', 'write it to this file, not to standard output')
    .action(async (idText: string, path: string, { output }: { output?: string }) => {
      // A file may have the name of the log; the log has a command of its own.
      const found = (await artifactsOf(idText)).findLast((artifact) => artifact.path === path)
      if (!found) throw new CliError(`The run left no ${path}. See \`muster artifact list ${idText}\`.`, EXIT.notFound)
      if (!found.downloadUrl) throw new CliError(found.downloadBlockedReason!, EXIT.refused)
      await download(found.downloadUrl, output)
    })
