import { defineMessages } from '../../kernel/messages.ts'

/** Why something on a Slurm cluster is not possible. The console translates them by their codes. */
export const slurmMessages = defineMessages('slurm', {
  noController: 'The cluster {name} has no controller node. Choose one.',
  reusedConfig:
    'The configuration of the cluster {name} is reused: Muster never writes it. Turn that off in the settings of the cluster first.',
  managedConfig: 'Muster wrote the configuration of the cluster {name}. Compare it with the hosts instead.',
  noConfig: 'The configuration of the cluster {name} was not imported yet. Import it first.',
  notManaged:
    'The cluster {name} is not managed by Muster, so Muster adds no nodes to it and removes none. Change its slurm.conf, then refresh it.',
  notCreated: 'The cluster {name} was not created yet. Wait for the end of its creation.',
  noCandidates: 'None of the nodes can join the cluster.',
  tooManyNodes:
    'The cluster {name} would have {total} nodes; its limit is {limit}. Choose fewer nodes, or raise the limit in its settings.',
  operationRuns: 'The operation {kind} {id} of {user} runs on the cluster {name}. Wait for its end, or cancel it.',
  actionRuns: 'The action {verb} {id} runs on the cluster {name}. Wait for its end.',
  severalFit: 'Several nodes fit: {names}.',
  otherCluster: 'The node {node} belongs to the cluster {name}.',
  notReady: 'has the status {status}; only READY nodes can join a cluster',
  notDiscovered: 'was not discovered; run a discovery first',
  sameHostname: 'has the host name {hostname}, which another node of the cluster has',
  hasConfig: 'has the configuration of the cluster {name}',
  inOperation: 'is part of an operation on the cluster {name}',
  hasDatabase: 'has the accounting database of the cluster {name}',
  isController: 'is a controller of the cluster {name}',
  isNode: 'is a node of the cluster {name}',
  noSwitch: 'has no label `switch`, but topology.conf of the cluster needs the switch of each node; set it',
  powerNotManaged:
    'The cluster {name} is not managed by Muster. Set SuspendProgram and ResumeProgram in its slurm.conf yourself.',
  powerIsOff: 'Power saving of the cluster {name} is off already.',
  powersNothing:
    'No node of the cluster {name} could be suspended. Add the BMCs of its nodes with `muster bmc set`, or exclude fewer nodes.',
  cloudNeedsPower:
    '{nodes}: nodes with State=CLOUD work only with power saving. Set their State to UNKNOWN in the configuration, and roll it out first.',
  cloudNotPowered:
    '{nodes}: only power saving can start nodes with State=CLOUD, but Muster may not power them. {reason} Change that, or set their State to UNKNOWN in the configuration.',
  cloudExcluded: '{node} is excluded.',
  notMember: '{node} is matched to no node that Muster added to the cluster {name}.',
  runsServices: 'The node {node} runs services of the cluster.',
})
