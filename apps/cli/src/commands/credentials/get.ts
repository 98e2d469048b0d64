import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { credentialId } from '../../lookup.ts'
import { address, ago, isTable, printObject } from '../../output.ts'

export const credentialGet = () =>
  new Command('get')
    .description('show one credential: settings, users and last test')
    .argument('<name>')
    .withOutput()
    .action(async (name: string, output: Output) => {
      const { node: credential } = await request(
        graphql(`query CredentialGet($id: ID!) {
          node(id: $id) {
            ... on Credential {
              id name kind description username becomeMethod host port publicKey allowedHosts secretsSet hostKeyFingerprint offeredHostKeyFingerprint
              via { name } secretStore { name } secretRefs { field path key } usedBy { role count names hostlist } lastResult { isOk error testedAt } lastUsedAt createdAt updatedAt
            }
          }
        }`),
        { id: await credentialId(name) },
      )
      if (!isTable(output)) return printObject(credential, output)
      if (!credential || !('kind' in credential)) return
      const { lastResult, offeredHostKeyFingerprint } = credential
      printObject(credential, output, [
        ['name', credential.name],
        ['kind', credential.kind],
        ['description', credential.description],
        ['user', credential.username],
        ...(credential.host
          ? ([
              ['address', address(credential.host, credential.port)],
              ['via', credential.via?.name],
              ['host key', credential.hostKeyFingerprint],
            ] as [string, string | null][])
          : []),
        ...(offeredHostKeyFingerprint
          ? [
              [
                'offered key',
                `${offeredHostKeyFingerprint}; compare it, then run \`muster node approve --bastion ${name} FINGERPRINT\``,
              ] as [string, string],
            ]
          : []),
        ...(credential.allowedHosts.length > 0
          ? [['allowed hosts', credential.allowedHosts.join(', ')] as [string, string]]
          : []),
        ['set', credential.secretsSet.join(', ')],
        ...credential.secretRefs.map(({ field, path, key }): [string, string] => [
          field.toLowerCase().replace('_', ' '),
          `${key} of ${path} in ${credential.secretStore?.name}`,
        ]),
        ['public key', credential.publicKey],
        ...(credential.usedBy.length === 0 ? [['used by', 'nothing'] as [string, string]] : []),
        ...credential.usedBy.map(({ role, count, names, hostlist }): [string, string] => [
          `used as ${role.toLowerCase()}`,
          `${count}: ${hostlist ?? names.join(', ')}`,
        ]),
        ['last used', ago(credential.lastUsedAt)],
        [
          'last test',
          lastResult &&
            `${lastResult.isOk ? 'ok' : 'FAILED'}, ${ago(lastResult.testedAt)}${lastResult.error ? `: ${lastResult.error}` : ''}`,
        ],
      ])
    })
