import type { Command } from '../command.ts'

export type Entry = {
  name: string
  aliases?: string[]
  /** Heading in `muster --help`. */
  heading: string
  description: string
  /** Imports only what this command needs: loading all commands takes longer than most of them run. */
  load: () => Promise<Command>
}

const NODES = 'Nodes:'
const RUNS = 'Runs:'
const VARIABLES = 'Credentials and variables:'
const MANIFESTS = 'Manifests:'
const MONITORING = 'Agents and alerts:'
const OPERATION = 'Operation:'
const ACCOUNT = 'Account and tools:'

/** All commands, in the order of `muster --help`. */
export const ENTRIES: Entry[] = [
  {
    name: 'node',
    aliases: ['nodes'],
    heading: NODES,
    description: 'add, list, test, discover and change nodes',
    load: async () => (await import('./nodes/index.ts')).node(),
  },
  {
    name: 'power',
    heading: NODES,
    description: 'power nodes on, off and through a cycle, and read their BMCs',
    load: async () => (await import('./power/index.ts')).power(),
  },
  {
    name: 'bmc',
    heading: NODES,
    description: 'find BMCs, and set those of nodes',
    load: async () => (await import('./power/bmc.ts')).bmc(),
  },
  {
    name: 'group',
    aliases: ['groups'],
    heading: NODES,
    description: 'manage groups of nodes, with explicit members or a query',
    load: async () => (await import('./groups/index.ts')).group(),
  },
  {
    name: 'boot',
    heading: NODES,
    description: 'show what nodes fetch and how far they boot, accept unknown machines',
    load: async () => (await import('./boot/index.ts')).boot(),
  },
  {
    name: 'boot-profile',
    aliases: ['boot-profiles'],
    heading: NODES,
    description: 'manage what nodes boot over the network, and assign it',
    load: async () => (await import('./boot-profiles/index.ts')).bootProfile(),
  },
  {
    name: 'openchami',
    heading: NODES,
    description: "compare with OpenCHAMI's SMD and BSS, and write to them",
    load: async () => (await import('./openchami/index.ts')).openchami(),
  },
  {
    name: 'cluster',
    aliases: ['clusters'],
    heading: NODES,
    description: 'test, add, list and refresh Slurm clusters',
    load: async () => (await import('./clusters/index.ts')).cluster(),
  },
  {
    name: 'slurm',
    heading: NODES,
    description: 'show and change nodes, partitions and jobs of Slurm clusters',
    load: async () => (await import('./slurm/index.ts')).slurm(),
  },
  {
    name: 'run',
    heading: RUNS,
    description: 'run a template on nodes and follow its log',
    load: async () => (await import('./runs/run.ts')).run(),
  },
  {
    name: 'runs',
    aliases: ['ps'],
    heading: RUNS,
    description: 'list runs and show their results',
    load: async () => (await import('./runs/index.ts')).runs(),
  },
  {
    name: 'logs',
    aliases: ['log'],
    heading: RUNS,
    description: 'print or follow the log of a run',
    load: async () => (await import('./runs/logs.ts')).logs(),
  },
  {
    name: 'cancel',
    aliases: ['stop'],
    heading: RUNS,
    description: 'cancel a run',
    load: async () => (await import('./runs/cancel.ts')).cancel(),
  },
  {
    name: 'retry',
    heading: RUNS,
    description: 'repeat a run on the hosts that failed',
    load: async () => (await import('./runs/retry.ts')).retry(),
  },
  {
    name: 'schedule',
    aliases: ['schedules'],
    heading: RUNS,
    description: 'run templates and discover nodes at recurring times',
    load: async () => (await import('./schedules/index.ts')).schedule(),
  },
  {
    name: 'template',
    aliases: ['templates'],
    heading: RUNS,
    description: 'manage job templates: playbooks with their settings',
    load: async () => (await import('./templates/index.ts')).template(),
  },
  {
    name: 'trigger',
    aliases: ['triggers'],
    heading: RUNS,
    description: 'run templates when signed webhooks arrive',
    load: async () => (await import('./triggers/index.ts')).trigger(),
  },
  {
    name: 'bundle',
    aliases: ['bundles'],
    heading: RUNS,
    description: 'list and delete uploaded playbook bundles',
    load: async () => (await import('./templates/bundles/index.ts')).bundle(),
  },
  {
    name: 'artifact',
    aliases: ['artifacts'],
    heading: RUNS,
    description: 'list and download the files of a run',
    load: async () => (await import('./artifacts/index.ts')).artifact(),
  },
  {
    name: 'credential',
    aliases: ['credentials'],
    heading: VARIABLES,
    description: 'manage SSH keys, passwords, bastions and git tokens',
    load: async () => (await import('./credentials/index.ts')).credential(),
  },
  {
    name: 'secret-store',
    aliases: ['secret-stores'],
    heading: VARIABLES,
    description: 'connect HashiCorp Vault, OpenBao or AWS Secrets Manager, which hold secrets of credentials',
    load: async () => (await import('./credentials/secret-stores/index.ts')).secretStore(),
  },
  {
    name: 'vars',
    aliases: ['var'],
    heading: VARIABLES,
    description: 'show and set layered variables: of all nodes, groups and nodes',
    load: async () => (await import('./variables/index.ts')).vars(),
  },
  {
    name: 'apply',
    heading: MANIFESTS,
    description: 'create and change objects as files describe them',
    load: async () => (await import('./manifests/apply.ts')).apply(),
  },
  {
    name: 'diff',
    heading: MANIFESTS,
    description: 'show what applying manifests would change',
    load: async () => (await import('./manifests/diff.ts')).diff(),
  },
  {
    name: 'get',
    aliases: ['describe'],
    heading: MANIFESTS,
    description: 'show an object: KIND/NAME',
    load: async () => (await import('./manifests/get.ts')).get(),
  },
  {
    name: 'delete',
    heading: MANIFESTS,
    description: 'delete an object: KIND/NAME',
    load: async () => (await import('./manifests/get.ts')).remove(),
  },
  {
    name: 'export',
    heading: MANIFESTS,
    description: 'print objects as manifests',
    load: async () => (await import('./manifests/export.ts')).exportManifests(),
  },
  {
    name: 'schema',
    heading: MANIFESTS,
    description: 'print the JSON Schema of a kind, for editors',
    load: async () => (await import('./manifests/schema.ts')).schema(),
  },
  {
    name: 'agent',
    aliases: ['agents'],
    heading: MONITORING,
    description: 'enroll agents, show their state, history and heartbeats, drain nodes',
    load: async () => (await import('./agents/index.ts')).agent(),
  },
  {
    name: 'top',
    heading: MONITORING,
    description: 'show all nodes with an agent live, worst first',
    load: async () => (await import('./heartbeats/top.ts')).top(),
  },
  {
    name: 'alert',
    aliases: ['alerts'],
    heading: MONITORING,
    description: 'list, acknowledge and silence alerts',
    load: async () => (await import('./alerts/index.ts')).alert(),
  },
  {
    name: 'alert-route',
    aliases: ['alert-routes'],
    heading: MONITORING,
    description: 'send alerts to webhooks, mailboxes and chats',
    load: async () => (await import('./alerts/routes/index.ts')).alertRoute(),
  },
  {
    name: 'audit',
    heading: OPERATION,
    description: 'list, verify, export and deliver the audit log',
    load: async () => (await import('./audit/index.ts')).audit(),
  },
  {
    name: 'ledger',
    heading: OPERATION,
    description: 'record node metadata in an append-only log, and verify it',
    load: async () => (await import('./ledger/index.ts')).ledger(),
  },
  {
    name: 'queue',
    heading: OPERATION,
    description: 'pause, resume and limit the run queue',
    load: async () => (await import('./run-queue/index.ts')).queue(),
  },
  {
    name: 'worker',
    aliases: ['workers'],
    heading: OPERATION,
    description: 'list and drain the workers that execute runs',
    load: async () => (await import('./workers/index.ts')).worker(),
  },
  {
    name: 'doctor',
    heading: OPERATION,
    description: 'check the installation and show the next step for each problem',
    load: async () => (await import('./system/doctor.ts')).doctor(),
  },
  {
    name: 'retention',
    heading: OPERATION,
    description: 'set how long logs, artifacts and runs are kept',
    load: async () => (await import('./artifacts/retention/index.ts')).retention(),
  },
  {
    name: 'member',
    aliases: ['members'],
    heading: OPERATION,
    description: 'invite, list, change and remove the members of the tenant',
    load: async () => (await import('./access/members/index.ts')).member(),
  },
  {
    name: 'sign-in',
    heading: OPERATION,
    description: 'list and test the ways to sign in to this installation',
    load: async () => (await import('./access/sign-in-methods/index.ts')).signInMethods(),
  },
  {
    name: 'tenant',
    aliases: ['tenants'],
    heading: OPERATION,
    description: 'list, create, limit, suspend and delete tenants, for installation administrators',
    load: async () => (await import('./access/tenants/index.ts')).tenant(),
  },
  {
    name: 'installation-admin',
    aliases: ['installation-admins'],
    heading: OPERATION,
    description: 'appoint and dismiss those who manage what all tenants share',
    load: async () => (await import('./access/installation-admins/index.ts')).installationAdmin(),
  },
  {
    name: 'login',
    heading: ACCOUNT,
    description: 'sign in and save an API token',
    load: async () => (await import('./access/login.ts')).login(),
  },
  {
    name: 'logout',
    heading: ACCOUNT,
    description: 'sign out: delete the saved address and token',
    load: async () => (await import('./access/logout.ts')).logout(),
  },
  {
    name: 'whoami',
    heading: ACCOUNT,
    description: 'show the user or token that is signed in',
    load: async () => (await import('./access/whoami.ts')).whoami(),
  },
  {
    name: 'password',
    aliases: ['passwd'],
    heading: ACCOUNT,
    description: 'change your password',
    load: async () => (await import('./access/password.ts')).password(),
  },
  {
    name: 'email',
    heading: ACCOUNT,
    description: 'change your email address',
    load: async () => (await import('./access/email/index.ts')).email(),
  },
  {
    name: 'session',
    aliases: ['sessions'],
    heading: ACCOUNT,
    description: 'list and end your sessions in browsers',
    load: async () => (await import('./access/sessions/index.ts')).session(),
  },
  {
    name: 'role',
    aliases: ['roles'],
    heading: ACCOUNT,
    description: 'custom roles, and the permissions of all roles',
    load: async () => (await import('./access/roles/index.ts')).role(),
  },
  {
    name: 'grant',
    aliases: ['grants'],
    heading: ACCOUNT,
    description: 'permissions of members for nodes of a group or for a Slurm cluster',
    load: async () => (await import('./grants/index.ts')).grant(),
  },
  {
    name: 'token',
    aliases: ['tokens'],
    heading: ACCOUNT,
    description: 'create, list and revoke API tokens',
    load: async () => (await import('./access/tokens/index.ts')).token(),
  },
  {
    name: 'api',
    heading: ACCOUNT,
    description: 'send a GraphQL operation and print the response as JSON',
    load: async () => (await import('./api.ts')).api(),
  },
]
