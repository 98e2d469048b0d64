import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { credentialId } from '../../ids.ts'
import { address, ago, type Format, outputOption, printObject } from '../../output.ts'

export const credentialGet = () =>
  new Command('get')
    .description('one credential: who uses it, and how its last test went')
    .argument('<name>')
    .addOption(outputOption())
    .action(async (name: string, { output }: { output: Format }) => {
      const { node: credential } = await request(
        graphql(`query CredentialGet($id: ID!) {
          node(id: $id) {
            ... on Credential {
              id name kind description username becomeMethod host port publicKey secretsSet hostKeyFingerprint offeredHostKeyFingerprint
              via { name } secretStore { name } secretRefs { field path key } usedBy { role count names } lastResult { isOk error at } lastUsedAt createdAt updatedAt
            }
          }
        }`),
        { id: await credentialId(name) },
      )
      if (output !== 'table') return printObject(credential, output)
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
                `${offeredHostKeyFingerprint}; compare it, then \`muster node approve --bastion ${name} FINGERPRINT\``,
              ] as [string, string],
            ]
          : []),
        ['set', credential.secretsSet.join(', ')],
        ...credential.secretRefs.map(({ field, path, key }): [string, string] => [
          field.toLowerCase().replace('_', ' '),
          `${key} of ${path} in ${credential.secretStore?.name}`,
        ]),
        ['public key', credential.publicKey],
        ...(credential.usedBy.length === 0 ? [['used by', 'nobody'] as [string, string]] : []),
        ...credential.usedBy.map(({ role, count, names }): [string, string] => [
          `used as ${role.toLowerCase()}`,
          `${count}: ${names}`,
        ]),
        ['last used', ago(credential.lastUsedAt)],
        [
          'last test',
          lastResult &&
            `${lastResult.isOk ? 'ok' : 'FAILED'}, ${ago(lastResult.at)}${lastResult.error ? `: ${lastResult.error}` : ''}`,
        ],
      ])
    })
