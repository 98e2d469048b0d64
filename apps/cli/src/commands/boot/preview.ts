import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { isTable, plain, printObject, write } from '../../output.ts'
import { ONE_NODE_HELP, selectNode } from '../../selector.ts'

export const bootPreview = () =>
  new Command('preview')
    .description('show what a node would receive if it booted now; issues no token')
    .argument('<selector>', ONE_NODE_HELP)
    .withOutput()
    .action(async (selector: string, output: Output) => {
      const { id, name } = await selectNode(selector)
      const { bootPreview } = await request(
        graphql(
          `query BootPreview($id: ID!) { bootPreview(nodeId: $id) { profile profileVersion reason files { kind content hash origins { name version } } } }`,
        ),
        { id },
      )
      if (!bootPreview) throw new CliError(`${name} was deleted.`, EXIT.notFound)
      if (!isTable(output)) return printObject(bootPreview, output)
      const parts = bootPreview.files.map(({ kind, content, hash, origins }) => {
        const from = origins.map(({ name, version }) => `${name} v${version}`).join(', ')
        return `==> ${kind} ${hash.slice(0, 12)}${from ? ` from ${from}` : ''}\n${content}`
      })
      if (bootPreview.reason) parts.unshift(`No boot script: ${bootPreview.reason}\n`)
      await write(plain(parts.join('\n'), true))
    })
