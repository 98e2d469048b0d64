import { REASONS } from '@muster/core/agents'
import { builder } from '../builder.ts'

/** Values whose name in the schema is their stored value in capitals. */
const upper = <const T extends Record<string, string>>(values: T) =>
  Object.fromEntries(
    Object.entries(values).map(([value, description]) => [value.toUpperCase(), { value, description }]),
  ) as unknown as {
    [K in keyof T as Uppercase<K & string>]: { value: K; description: string }
  }
const same = <const T extends Record<string, string>>(values: T) =>
  Object.fromEntries(Object.entries(values).map(([value, description]) => [value, { description }])) as {
    [K in keyof T]: { description: string }
  }

export const RoleType = builder.enumType('Role', {
  description: 'What a member or API token may do; each role includes the ones before it.',
  values: upper({
    viewer: 'Sees everything, changes nothing.',
    operator: 'Adds nodes, approves host keys, starts and cancels runs.',
    admin: 'Also credentials, removing nodes for good, local nodes and members.',
    owner: 'Also the tenant itself.',
  }),
})

export const NodeStatus = builder.enumType('NodeStatus', {
  description: 'Whether a node can be worked with, derived from what was last seen of it.',
  values: same({
    NEW: 'Added, but no connection test has succeeded yet.',
    READY: 'Reachable with its credential and approved host key.',
    UNREACHABLE: 'It was reachable and now is not, or its host key changed.',
    MAINTENANCE: 'Taken out of service for a while by an operator.',
    DECOMMISSIONED: 'Taken out of service for good; only purging removes it.',
  }),
})

export const NodeType = builder.enumType('NodeType', {
  description: 'What a node is for.',
  values: same({
    COMPUTE: 'Runs workloads.',
    LOGIN: 'Where users log in.',
    CONTROLLER: 'Runs schedulers and other control services.',
    STORAGE: 'Serves files or objects.',
    OTHER: 'Anything else.',
  }),
})

export const ConnectionType = builder.enumType('ConnectionType', {
  description: 'How a node is reached.',
  values: upper({ ssh: 'Over SSH.', local: 'It is the machine of the worker itself. Only admins may add such a node.' }),
})

export const DeviceType = builder.enumType('DeviceType', {
  description: 'Kinds of accelerators.',
  values: upper({
    nvidia_gpu: 'NVIDIA GPU.',
    amd_gpu: 'AMD Instinct or Radeon GPU.',
    intel_gpu: 'Intel data centre GPU.',
    huawei_npu: 'Huawei Ascend NPU.',
    thead_npu: 'T-Head PPU.',
    other: 'An accelerator of another kind.',
  }),
})

export const AcceleratorHealth = builder.enumType('AcceleratorHealth', {
  description: 'Health of an accelerator, best to worst.',
  values: upper({
    ok: 'Its tool reports no trouble.',
    unknown: 'Nothing is reported about its health.',
    warning: 'It works, but something needs attention.',
    critical: 'It must not be used.',
    lost: 'The machine has it, but it no longer answers.',
  }),
})

export const AcceleratorSource = builder.enumType('AcceleratorSource', {
  description: 'Where the knowledge of an accelerator comes from.',
  values: upper({ tool: "The vendor's tool reported it.", pci: 'Only the PCI bus shows it; no tool reported it.' }),
})

export const CredentialKind = builder.enumType('CredentialKind', {
  description: 'What a credential opens.',
  values: same({
    SSH_KEY: 'Login on nodes with a private key.',
    SSH_PASSWORD: 'Login on nodes with a password.',
    BASTION: 'A host in front of nodes, with the login on it.',
    BECOME: 'The password with which a logged-in user becomes another, usually root.',
    GIT: 'Private repositories of a git server, from which templates take their playbooks.',
  }),
})

export const SecretField = builder.enumType('SecretField', {
  description: 'A field of a credential that holds a secret.',
  values: {
    PRIVATE_KEY: { value: 'privateKey', description: 'Private key.' },
    PASSPHRASE: { value: 'passphrase', description: 'Opens the private key.' },
    PASSWORD: { value: 'password', description: 'Password.' },
  } as const,
})

export const SecretStoreAuth = builder.enumType('SecretStoreAuth', {
  description: 'How Muster signs in to a secret store.',
  values: same({ TOKEN: 'With a token.', APP_ROLE: 'With the role ID and secret ID of an AppRole at auth/approle.' }),
})

export const PlaybookSource = builder.enumType('PlaybookSource', {
  description: 'Where a playbook comes from.',
  values: upper({
    shipped: 'The playbooks directory of the product or of whoever runs it.',
    bundle: 'An archive that somebody uploaded.',
    git: 'A git repository, at the commit that each run fetches.',
  }),
})

export const BecomeMethod = builder.enumType('BecomeMethod', {
  description: 'The command that changes to another user.',
  values: upper({ sudo: 'sudo.', su: 'su.' }),
})

export const JobRunStatus = builder.enumType('JobRunStatus', {
  description: 'Where a run stands, derived from its times, exit code and host results.',
  values: same({
    PENDING: 'Waits for a worker.',
    RUNNING: 'A worker executes it.',
    CANCELING: 'Somebody asked it to stop; its worker is stopping it.',
    SUCCEEDED: 'Every host ended well.',
    PARTIAL: 'Some hosts ended well, some failed or were unreachable.',
    FAILED: 'Every host failed or was unreachable, or the play aborted.',
    CANCELED: 'It was stopped on request.',
    TIMED_OUT: 'It took longer than its timeout and was stopped.',
    ERROR: 'It could not run, or its worker was lost.',
  }),
})

export const HostResult = builder.enumType('HostResult', {
  description: 'How a run went on one host.',
  values: same({
    PENDING: 'Its first task has not begun.',
    RUNNING: 'In the middle of the play.',
    OK: 'Its tasks went well without changes.',
    CHANGED: 'Its tasks went well and something was changed.',
    FAILED: 'A task failed.',
    UNREACHABLE: 'No connection could be made, or it broke.',
    SKIPPED: 'Every task was skipped.',
    INTERRUPTED: 'The run was ended in the middle of it; whether its tasks were done is not known.',
    NOT_RUN: 'The run ended before any task was carried out on it.',
  }),
})

export const PreflightStageName = builder.enumType('PreflightStageName', {
  description: 'Stages of a connection test, in their order.',
  values: same({
    RESOLVE: 'The name of the host is resolved to an address.',
    TCP: 'The port accepts a connection.',
    BANNER: 'Something there speaks SSH.',
    HOST_KEY: 'The host key is the approved one.',
    AUTHENTICATION: 'The credential is accepted.',
    SHELL: 'A command can be executed.',
    SUDO: 'The user can become root.',
    PYTHON: 'A Python interpreter that Ansible can use is there.',
    ANSIBLE: 'Ansible can be used on the node.',
  }),
})

export const PreflightState = builder.enumType('PreflightState', {
  description: 'How a stage ended.',
  values: same({ OK: 'Good.', FAILED: 'Not good; its hint says what to do.', SKIPPED: 'Not tried, or not needed.' }),
})

export const DiscoveryStatus = builder.enumType('DiscoveryStatus', {
  description: 'Where a discovery stands.',
  values: same({
    PENDING: 'Waits for a worker.',
    RUNNING: 'The probe is on the node.',
    SUCCEEDED: 'Its result is there.',
    FAILED: 'Its error says why there is no result.',
  }),
})

export const DiscoveryReason = builder.enumType('DiscoveryReason', {
  description: 'Why a discovery was made.',
  values: upper({
    onboarding: 'The node became ready for the first time.',
    refresh: 'Somebody asked for it.',
    sweep: 'A look at all nodes, made from time to time.',
    run: 'A run of the template `collect_facts`.',
  }),
})

export const ToolState = builder.enumType('ToolState', {
  description: "How a vendor's tool answered.",
  values: same({
    ABSENT: 'It is not installed.',
    OK: 'It answered.',
    FAILED: 'It ended with an error, for example because it does not fit its driver.',
    FOREIGN: 'Something of that name belongs to another vendor.',
    TIMED_OUT: 'It did not answer in time.',
  }),
})

export const ImportFormat = builder.enumType('ImportFormat', {
  description: 'How the text of an import is written.',
  values: same({
    LIST: 'Addresses and hostlists such as `gpu[001-064]`, one per line or separated by commas.',
    CSV: 'A heading line, then one node per line. Columns are named like the fields of a node; credential, become_credential and bastion hold names of credentials.',
    INVENTORY: 'An Ansible inventory, INI or YAML.',
  }),
})

export const NodeImportState = builder.enumType('NodeImportState', {
  description: 'What became of one row of an import.',
  values: same({
    VALID: 'It can be added.',
    ADDED: 'It was added.',
    EXISTS: 'A node of that name and address, or of that address, is there already.',
    INVALID: 'Its issues say what is wrong.',
  }),
})

export const SortDirection = builder.enumType('SortDirection', {
  description: 'Direction of an order.',
  values: same({ ASC: 'Smallest first.', DESC: 'Largest first.' }),
})

export const NodeOrderField = builder.enumType('NodeOrderField', {
  description: 'What nodes can be ordered by.',
  values: same({
    NAME: 'Their name.',
    CREATED_AT: 'When they were added.',
    LAST_SEEN_AT: 'When they last answered; never counts as the earliest.',
    STATUS: 'Their status, by its name.',
  }),
})

export const RetryHosts = builder.enumType('RetryHosts', {
  description: 'On which hosts of a run to try it again.',
  values: same({
    FAILED: 'Those that failed or were interrupted.',
    UNREACHABLE: 'Those that could not be reached.',
    BOTH: 'Those that failed, were interrupted or could not be reached.',
    NOT_RUN: 'Those that the run ended before: after a cancel, or when too many failed.',
  }),
})

export const JobRunOrderField = builder.enumType('JobRunOrderField', {
  description: 'What runs can be ordered by.',
  values: same({ CREATED_AT: 'When they were asked for.' }),
})

export const VarLayer = builder.enumType('VarLayer', {
  description: 'The layers of variables, from the lowest; a nearer one wins.',
  values: upper({
    global: 'Of all nodes.',
    group: 'Of a group that the node is in.',
    node: 'Of the node alone.',
    run: "A run's template defaults and extra vars.",
  }),
})

export const VarMerge = builder.enumType('VarMerge', {
  description: 'What becomes of dictionaries that several layers give to one variable.',
  values: upper({
    replace: 'The nearest one holds, as Ansible does it.',
    deep: 'Each is laid into the one below, key by key, all the way down; anything else is replaced, lists too.',
  }),
})

export const VarChangeKind = builder.enumType('VarChangeKind', {
  description: 'What became of a variable.',
  values: same({ ADDED: 'It is new.', CHANGED: 'It has another value.', REMOVED: 'It is gone.' }),
})

export const AgentState = builder.enumType('AgentState', {
  description: "What is made of a node's heartbeats.",
  values: same({
    PENDING: 'Registered, but not heard yet.',
    ACTIVE: 'Heard in time.',
    STALE: 'Late: nothing was heard for a while.',
    DRAINING: 'It is to take no more jobs, and still has some.',
    DRAINED: 'It is to take no more jobs, and has none left.',
    OFFLINE: 'Nothing was heard for so long that it is given up.',
    DEREGISTERED: 'Taken out for good; it comes back only with a new identity.',
  }),
})

export const AgentReason = builder.enumType('AgentReason', {
  description: 'Why the state of an agent changed.',
  values: upper(REASONS),
})

export const AgentKeyStatus = builder.enumType('AgentKeyStatus', {
  description: 'Whether heartbeats that are signed with a key count.',
  values: same({
    ALLOWED: 'They do.',
    WAITING: 'Not yet: somebody has to approve it.',
    REVOKED: 'Not any more, for good.',
  }),
})

export const AlertSeverity = builder.enumType('AlertSeverity', {
  description: 'How bad a thing is, mildest first.',
  values: upper({ info: 'Good to know.', warning: 'To be looked at.', critical: 'To be looked at now.' }),
})

export const AlertKind = builder.enumType('AlertKind', {
  description: 'What an alert tells of.',
  values: upper({
    stale: 'The node missed heartbeats.',
    offline: 'The node was given up.',
    recovered: 'A node that was stale or offline is heard again.',
    anomaly: 'Its heartbeats come at unusual intervals.',
    sequence_gap: 'Heartbeats that it sent did not arrive.',
    key_changed: 'An agent came with another key than the allowed one.',
    key_shared: 'Two machines beat with one key at the same time.',
    fingerprint_changed: 'An agent runs on other hardware than before.',
    clock_skew: 'Its clock is off.',
    accelerator_lost: 'An accelerator that was there does not answer any more.',
    accelerator_count_changed: 'It has another number of accelerators than before.',
    ingest_silent: 'So many nodes fell silent at once that Muster itself may be cut off.',
  }),
})

export const AlertRouteKind = builder.enumType('AlertRouteKind', {
  description: 'Where alerts go on a route.',
  values: upper({
    webhook: 'To a program, as signed JSON.',
    email: 'To mailboxes.',
    slack: 'To Slack, Mattermost, Rocket.Chat and what else takes their incoming webhooks.',
    dingtalk: 'To a DingTalk robot.',
    feishu: 'To a Feishu or Lark bot.',
    wecom: 'To a WeCom robot.',
  }),
})

export const SmtpSecurity = builder.enumType('SmtpSecurity', {
  description: 'How a connection to a mail server is kept from others.',
  values: upper({
    tls: 'TLS from the first byte.',
    starttls: 'It has to change over to TLS before anything is said.',
    none: 'Not at all; then there is no password either.',
  }),
})

export const AlertDeliveryEvent = builder.enumType('AlertDeliveryEvent', {
  description: 'What a message tells.',
  values: upper({ opened: 'Alerts began.', resolved: 'Alerts are over.', test: 'Nothing: it shows whether messages arrive.' }),
})

export const AlertDeliveryStatus = builder.enumType('AlertDeliveryStatus', {
  description: 'How it went with a message.',
  values: same({
    PENDING: 'It is still to be sent, or to be tried again.',
    DELIVERED: 'It was taken.',
    FAILED: 'It was given up.',
  }),
})
