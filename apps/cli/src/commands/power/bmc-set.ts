import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { optionalCredentialId } from '../../lookup.ts'
import { allowEmpty, emptyToNull, integer, omitUndefined, oneOf } from '../../options.ts'
import { readText } from '../../read-text.ts'
import { SELECTOR_HELP, selectNode, selectNodes } from '../../selector.ts'
import { forEachNode } from '../nodes/for-each-node.ts'

type Options = {
  address?: string
  port?: number | ''
  mac?: string
  protocol?: 'REDFISH' | 'IPMI'
  credential?: string
  fingerprint?: string
  caFile?: string
  system?: string
}

export const bmcSet = () =>
  new Command('set')
    .description("set the BMC of a node, or change BMCs; '' clears a field")
    .argument('<selector>', SELECTOR_HELP)
    .option('--address <address>', 'host name or IP address, for one node')
    .option('-p, --port <port>', 'port; default: 443 for REDFISH, 623 for IPMI', allowEmpty(integer))
    .option('--mac <mac>', 'MAC address of the BMC, for one node')
    .option('--protocol <protocol>', 'REDFISH or IPMI; default: REDFISH', oneOf('REDFISH', 'IPMI'))
    .option('-c, --credential <name>', 'credential of the kind BMC')
    .option('--fingerprint <sha256>', 'accept only this certificate, for one node; replaces the CA')
    .option('--ca-file <path>', 'PEM file with the only accepted authorities; replaces the fingerprint')
    .option('--system <path>', 'path of the node among several systems, such as /redfish/v1/Systems/1, for one node')
    .action(async (selector: string, options: Options) => {
      if (Object.keys(options).length === 0) throw new CliError('Specify at least one option; see --help.', EXIT.usage)
      const isForOne = (['address', 'mac', 'fingerprint', 'system'] as const).some((option) => options[option])
      const nodes = isForOne ? [await selectNode(selector)] : await selectNodes(selector)
      const fields = omitUndefined({
        address: options.address,
        port: emptyToNull(options.port),
        mac: emptyToNull(options.mac),
        protocol: options.protocol,
        credentialId: (await optionalCredentialId(options.credential)) ?? undefined,
        fingerprint: emptyToNull(options.fingerprint),
        caCertificate: options.caFile ? readText(options.caFile) : emptyToNull(options.caFile),
        systemPath: emptyToNull(options.system),
      })
      await forEachNode(
        nodes,
        async ({ id }) => {
          const { setNodeBmc } = await request(
            graphql(`mutation BmcSet($input: SetNodeBmcInput!) {
              setNodeBmc(input: $input) {
                __typename ... on SetNodeBmcPayload { bmc { address port protocol } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
              }
            }`),
            { input: { nodeId: id, ...fields } },
          )
          return setNodeBmc
        },
        ({ bmc }) => `${bmc.protocol} at ${bmc.address} port ${bmc.port}`,
      )
    })
