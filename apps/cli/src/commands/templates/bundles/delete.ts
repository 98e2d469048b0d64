import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { allBundles } from '../../../lookup.ts'

export const bundleDelete = () =>
  new Command('delete')
    .description('delete a bundle that no template version and no run uses')
    .argument('<sha256>', 'checksum or its prefix, see `muster bundle list`')
    .action(async (sha256: string) => {
      const found = /^[0-9a-f]{8,64}$/.test(sha256) ? (await allBundles()).filter((b) => b.sha256.startsWith(sha256)) : []
      if (found.length !== 1)
        throw new CliError(
          `${found.length === 0 ? 'No bundle matches' : 'Several bundles match'} ${sha256}. See \`muster bundle list\`.`,
          EXIT.notFound,
        )
      const { deletePlaybookBundle } = await request(
        graphql(`mutation BundleDelete($id: ID!) {
          deletePlaybookBundle(input: { id: $id }) { __typename ... on DeletePlaybookBundlePayload { deletedId } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { id: found[0]!.id },
      )
      orThrow(deletePlaybookBundle)
      process.stderr.write(`Deleted ${found[0]!.name}.\n`)
    })
