import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { confirmAction, YES_HELP } from '../../../confirm.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integerOrNone, nullIfNone, omitUndefined } from '../../../options.ts'
import { findTenant } from './find-tenant.ts'

type TenantChanges = { name?: string; maxRuns?: number | 'none'; maxNodes?: number | 'none' }

export const tenantUpdate = () =>
  new Command('update')
    .description('rename a tenant or set its quotas')
    .argument('<name>')
    .option('--name <name>', 'new name')
    .option('--max-runs <number>', 'maximum number of concurrent runs over all workers, or none', integerOrNone)
    .option('--max-nodes <number>', 'maximum number of nodes that are not decommissioned, or none', integerOrNone)
    .action(async (current: string, { name, maxRuns, maxNodes }: TenantChanges) => {
      const { id } = await findTenant(current)
      const { updateTenant } = await request(
        graphql(`mutation TenantUpdate($input: UpdateTenantInput!) {
          updateTenant(input: $input) { __typename ... on UpdateTenantPayload { tenant { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input: { id, ...omitUndefined({ name, maxConcurrentRuns: nullIfNone(maxRuns), maxNodes: nullIfNone(maxNodes) }) } },
      )
      process.stderr.write(`Updated ${orThrow(updateTenant).tenant.name}.\n`)
    })

export const tenantSuspend = () =>
  new Command('suspend')
    .description('suspend a tenant: its members and tokens have no access and no run starts until `muster tenant resume`')
    .argument('<name>')
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, { yes }: { yes?: true }) => {
      const { id } = await findTenant(name)
      await confirmAction(`Suspend ${name}: its members and tokens lose access, and no run starts. Active runs continue.`, yes)
      const { suspendTenant } = await request(
        graphql(`mutation TenantSuspend($id: ID!) {
          suspendTenant(input: { id: $id }) { __typename ... on Error { code message } }
        }`),
        { id },
      )
      orThrow(suspendTenant)
      process.stderr.write(`Suspended ${name}.\n`)
    })

export const tenantResume = () =>
  new Command('resume')
    .description('give the members and tokens of a suspended tenant access again')
    .argument('<name>')
    .action(async (name: string) => {
      const { id } = await findTenant(name)
      const { resumeTenant } = await request(
        graphql(`mutation TenantResume($id: ID!) {
          resumeTenant(input: { id: $id }) { __typename ... on Error { code message } }
        }`),
        { id },
      )
      orThrow(resumeTenant)
      process.stderr.write(`Resumed ${name}.\n`)
    })

export const tenantDelete = () =>
  new Command('delete')
    .description('delete a suspended tenant with all its data; this cannot be undone')
    .argument('<name>')
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, { yes }: { yes?: true }) => {
      const { id, nodeCount, memberCount } = await findTenant(name)
      await confirmAction(
        `Delete ${name} with ${nodeCount} nodes, ${memberCount} members, its credentials, runs, logs, artifacts and audit log. This cannot be undone.`,
        yes,
      )
      const { deleteTenant } = await request(
        graphql(`mutation TenantDelete($id: ID!) {
          deleteTenant(input: { id: $id }) { __typename ... on Error { code message } }
        }`),
        { id },
      )
      orThrow(deleteTenant)
      process.stderr.write(
        `Deleting ${name}. A worker removes its data within minutes; \`muster tenant list\` shows it until then.\n`,
      )
    })
