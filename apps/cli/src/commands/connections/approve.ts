import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId } from '../../lookup.ts'
import { ONE_NODE_HELP, selectNode } from '../../selector.ts'

export const nodeApprove = () =>
  new Command('approve')
    .description('approve the host key of a node or bastion; compare its fingerprint on the machine first')
    .argument('<selector>', `${ONE_NODE_HELP}; with --bastion the name of a bastion credential`)
    .argument('[fingerprint]', 'SHA256:… as `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` prints it on the machine')
    .option('--bastion', 'approve the key of a bastion')
    .action(async (selector: string, fingerprint: string | undefined, options: { bastion?: true }) => {
      if (!fingerprint)
        throw new CliError('Specify the fingerprint that you compared. `muster node test` shows the offered one.', EXIT.usage)
      const { id, name } = options.bastion ? { id: await credentialId(selector), name: selector } : await selectNode(selector)
      const { approveHostKeys } = await request(
        graphql(`mutation NodeApprove($approvals: [HostKeyApprovalInput!]!) {
          approveHostKeys(input: { approvals: $approvals }) { __typename ... on ApproveHostKeysPayload { nodes { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { approvals: [{ id, fingerprint }] },
      )
      orThrow(approveHostKeys)
      process.stderr.write(`Approved ${fingerprint} for ${name}.\n`)
    })
