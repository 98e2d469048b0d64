import { defineMessages } from '../../kernel/messages.ts'

/** Findings of readiness checks. */
export const slurmCheckMessages = defineMessages('slurmCheck', {
  loggedIn: 'logged in over SSH',
  isRoot: 'may become root',
  asksPassword: 'sudo asks for a password; the become password of the node is used',
  otherSystem: '{system} is neither of the Debian nor of the RHEL family; use a prefix with an installed Slurm',
  noPackages:
    'no repository of the node has the package slurm-slurmd; enable EPEL, or set a repository or a prefix for the cluster',
  otherArchitecture: '{arch}; Slurm is installed on x86_64 and aarch64 only',
  otherHostname: 'the host name is {hostname}, and not {name}; run a discovery of the node',
  clockEqual: 'equal to the clock of Muster',
  clockBehind: '{seconds} s behind Muster; synchronize the clock',
  clockAhead: '{seconds} s ahead of Muster; synchronize the clock',
  clockFarBehind: '{seconds} s behind Muster; munge would reject its credentials. Synchronize the clock',
  clockFarAhead: '{seconds} s ahead of Muster; munge would reject its credentials. Synchronize the clock',
  reaches: 'reaches port 6817 of {name}',
  noAnswer: 'port 6817 of {name} does not answer; check routes and firewalls',
  isResolved: 'the controller resolves {name}',
  notResolved: 'the controller does not resolve {name}; it uses {address}',
  doesNotResolve: 'does not resolve {name}; slurmd uses its address',
  resolves: 'resolves {name}',
  slurmdRuns: 'slurmd runs here already, or another program uses port 6818; stop it, or choose another node',
  otherDaemonRuns: '{daemon} of another cluster runs here; choose another node',
  noPrefix: '{prefix}/sbin/slurmd is missing; install Slurm there, or choose another prefix',
  mungeRuns: 'munge runs here, with the key of another cluster; stop it and remove its package, or choose another node',
  installed: 'installed',
  notInstalled: 'not installed',
  noCgroups: 'not mounted; slurmd cannot limit jobs',
  diskFull: '{free} free in /var; Slurm needs 500 MiB',
  disk: '{free} free in /var',
  noDevices: '{missing} of {total} device files are missing: {names}. Check the driver',
})
