import { Command, type Output } from '../../../command.ts'
import { ago, printRows } from '../../../output.ts'
import { allTenants } from './find-tenant.ts'

export const tenantList = () =>
  new Command('list')
    .description('list tenants; for installation administrators')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await allTenants(),
        [
          { title: 'TENANT', value: ({ name }) => name },
          { title: 'STATE', value: ({ suspendedAt }) => (suspendedAt ? 'suspended' : 'active') },
          { title: 'MAX RUNS', value: ({ maxConcurrentRuns }) => String(maxConcurrentRuns ?? 'no limit') },
          { title: 'CREATED', value: ({ createdAt }) => ago(createdAt) },
          { title: 'SUSPENDED BY', value: ({ suspendedBy }) => suspendedBy?.name ?? '', wide: true },
        ],
        output,
        'No tenants.',
      )
    })
