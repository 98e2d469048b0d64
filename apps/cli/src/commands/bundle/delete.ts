import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { allBundles } from '../../ids.ts'

export const bundleDelete = () =>
  new Command('delete')
    .description('delete a bundle that no version of a template and no run needs')
    .argument('<sha256>', 'as `muster bundle list` shows it, or all of it')
    .action(async (sha256: string) => {
      const found = /^[0-9a-f]{8,64}$/.test(sha256) ? (await allBundles()).filter((b) => b.sha256.startsWith(sha256)) : []
      if (found.length !== 1)
        throw new CliError(
          `${found.length === 0 ? 'No bundle begins' : 'Several bundles begin'} with ${sha256}. See \`muster bundle list\`.`,
          EXIT.notFound,
        )
      const { deletePlaybookBundle } = await request(
        graphql(`mutation BundleDelete($id: ID!) {
          deletePlaybookBundle(id: $id) { __typename ... on Deleted { id } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { id: found[0]!.id },
      )
      orThrow(deletePlaybookBundle)
      process.stderr.write(`Deleted the bundle ${found[0]!.name}.\n`)
    })
