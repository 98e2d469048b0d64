import { builder } from '../../../builder.ts'

export const SlurmRunInput = builder.inputType('SlurmRunInput', {
  description: 'How a run takes nodes of a Slurm cluster out of service: batch by batch.',
  fields: (t) => ({
    batchSize: t.int({ description: 'Nodes that are out of service at the same time, 1 to 1,000. Default: 1.' }),
    deadlineSeconds: t.int({
      description:
        'How long a batch waits for the jobs on its nodes, and for capacity, in seconds. Then the run stops. Default: 86,400.',
    }),
    floorPercent: t.int({
      description: 'Percentage of the nodes of each partition that stay in service, 0 to 100. Default: 50.',
    }),
    healthSeconds: t.int({
      description: 'How long nodes may take to be registered and healthy after the playbook, in seconds. Default: 300.',
    }),
    includeReserved: t.boolean({
      description: 'Whether to drain nodes of reservations without the flag MAINT, too. Default: false; they are skipped.',
    }),
    maintenanceOnly: t.boolean({
      description: 'Whether to drain nodes only during a reservation with the flag MAINT. Default: false.',
    }),
  }),
})
