import { request, subscribe } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { optionalCredentialId } from '../../lookup.ts'
import { integer, omitUndefined } from '../../options.ts'
import { printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { readText } from '../../read-text.ts'

const START = graphql(`mutation BmcDiscover($input: DiscoverBmcsInput!) {
  discoverBmcs(input: $input) {
    __typename ... on DiscoverBmcsPayload { bmcDiscovery { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)
const UPDATES = graphql(`subscription BmcDiscoveryUpdates($id: ID!) {
  bmcDiscoveryUpdated(id: $id) { status probedCount addressCount foundCount error finishedAt }
}`)
const FOUND = graphql(`query BmcDiscoveryFound($id: ID!, $first: Int, $after: String) {
  bmcDiscovery(id: $id) {
    found(first: $first, after: $after) {
      edges { node { address port systemPath fingerprint product powerState message matchedBy conflict node { name } inventory { manufacturer model serial } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)
const CANCEL = graphql(`mutation BmcDiscoverCancel($input: CancelBmcDiscoveryInput!) {
  cancelBmcDiscovery(input: $input) { __typename ... on CancelBmcDiscoveryPayload { bmcDiscovery { id } } ... on Error { code message } }
}`)

type Options = Output & { port?: number; credential?: string; caFile?: string }

export const bmcDiscover = () =>
  new Command('discover')
    .description('search addresses for BMCs, and find their nodes; Ctrl-C ends the search')
    .argument('<addresses...>', 'names, addresses, ranges 10.0.1.1-64 and networks 10.0.1.0/24; at most 4096 addresses')
    .option('-p, --port <port>', 'port (default: 443)', integer)
    .option('-c, --credential <name>', 'read systems with this BMC credential, from BMCs with a trusted certificate only')
    .option('--ca-file <path>', 'PEM file with the only trusted authorities')
    .withOutput()
    .action(async (addresses: string[], { port, credential, caFile, ...output }: Options) => {
      const credentialId = (await optionalCredentialId(credential)) ?? undefined
      const more = omitUndefined({ port, credentialId, caCertificate: caFile ? readText(caFile) : undefined })
      const input = { addresses, ...more }
      const { id } = orThrow((await request(START, { input })).discoverBmcs).bmcDiscovery
      const stop = () => void request(CANCEL, { input: { id } }).catch(() => {})
      process.once('SIGINT', stop)
      let last: { status: string; error: string | null } | undefined
      for await (const { bmcDiscoveryUpdated: update } of subscribe(UPDATES, () => ({ id }))) {
        last = update
        if (process.stderr.isTTY)
          process.stderr.write(`\r${update.probedCount} of ${update.addressCount} addresses, ${update.foundCount} found `)
        if (update.finishedAt) break
      }
      process.off('SIGINT', stop)
      if (process.stderr.isTTY) process.stderr.write('\n')
      const found = await fetchAll(async (page) => (await request(FOUND, { id, ...page })).bmcDiscovery?.found)
      printRows(
        found.map((bmc) => ({ ...bmc, id: `${bmc.address} ${bmc.systemPath ?? ''}`, name: bmc.address })),
        [
          { title: 'ADDRESS', value: (b) => b.address },
          { title: 'SYSTEM', value: (b) => b.systemPath, wide: true },
          {
            title: 'PRODUCT',
            value: (b) => [b.inventory?.manufacturer, b.inventory?.model].filter(Boolean).join(' ') || b.product,
          },
          { title: 'SERIAL', value: (b) => b.inventory?.serial },
          { title: 'POWER', value: (b) => b.powerState },
          { title: 'NODE', value: (b) => (b.node ? `${b.node.name} (${b.matchedBy})` : null) },
          { title: 'FINGERPRINT', value: (b) => b.fingerprint },
          { title: 'MESSAGE', value: (b) => b.conflict ?? b.message },
        ],
        output,
        'No BMCs found.',
      )
      if (last?.error) process.stderr.write(`${last.error}\n`)
      if (last?.status === 'FAILED' || last?.status === 'CANCELED') process.exitCode = EXIT[last.status]
    })
