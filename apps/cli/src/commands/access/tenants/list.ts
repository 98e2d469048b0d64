import { Command, type Output } from '../../../command.ts'
import { ago, printRows } from '../../../output.ts'
import { allTenants } from './find-tenant.ts'

/** For example `12` or, with a quota, `12/100`. */
const limited = (count: number, quota: number | null): string => (quota === null ? String(count) : `${count}/${quota}`)

export const tenantList = () =>
  new Command('list')
    .description('list tenants; for installation administrators')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await allTenants(),
        [
          { title: 'TENANT', value: ({ name }) => name },
          {
            title: 'STATE',
            value: ({ suspendedAt, deletedAt }) => (deletedAt ? 'deleting' : suspendedAt ? 'suspended' : 'active'),
          },
          { title: 'NODES', value: ({ nodeCount, maxNodes }) => limited(nodeCount, maxNodes) },
          { title: 'RUNS', value: ({ activeRunCount, maxConcurrentRuns }) => limited(activeRunCount, maxConcurrentRuns) },
          { title: 'MEMBERS', value: ({ memberCount }) => String(memberCount) },
          { title: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
          { title: 'SUSPENDED BY', value: ({ suspendedBy }) => suspendedBy?.name ?? '', wide: true },
        ],
        output,
        'No tenants.',
      )
    })
