import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId, nodeIdOf } from '../../ids.ts'

export const nodeApprove = () =>
  new Command('approve')
    .description('pin the host key that a node or bastion offers, after comparing its fingerprint with the machine’s')
    .argument('<name>', 'the node, or with --bastion the bastion credential')
    .argument('[fingerprint]', 'SHA256:… as `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` prints it on the machine')
    .option('--bastion', 'pin the key of a bastion')
    .action(async (name: string, fingerprint: string | undefined, options: { bastion?: true }) => {
      if (!fingerprint)
        throw new CliError(
          'Give the fingerprint that you compared. `muster node test` shows the one that is offered.',
          EXIT.usage,
        )
      const id = options.bastion ? await credentialId(name) : await nodeIdOf(name)
      const { approveHostKeys } = await request(
        graphql(`mutation NodeApprove($approvals: [HostKeyApproval!]!) {
          approveHostKeys(approvals: $approvals) { __typename ... on HostKeyApprovalReport { nodes { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { approvals: [{ id, fingerprint }] },
      )
      orThrow(approveHostKeys)
      process.stderr.write(`Pinned ${fingerprint} for ${name}.\n`)
    })
