import type { AcceleratorCounts, ProfileName } from './profiles.ts'

export type { AcceleratorCounts }

/** Options of one node. */
export interface NodeOptions {
  name: string
  profile?: ProfileName
  /** In a network segment that only the bastion reaches. */
  behindBastion?: boolean
  /** false: the node has no Python interpreter. */
  python?: boolean
  /** false: the node has PCI devices but none of the vendor's tools and drivers. */
  tools?: boolean
}

export interface LabOptions {
  /** Number of default nodes, or a list of nodes. Default 8. */
  nodes?: number | NodeOptions[]
  /** false: no bastion; all default nodes are directly reachable. */
  bastion?: boolean
  /** `auto` uses namespaces as root, and loopback sshd processes otherwise. */
  mode?: LabMode | 'auto'
  /** A Slurm cluster of the nodes; its controllers are additional nodes. */
  slurm?: boolean | SlurmOptions
  /** Folders of this machine that nodes in namespaces see read-only, at `path`. */
  folders?: { folder: string; path: string }[]
  /** Folder of this machine that all nodes in namespaces see as /mnt/shared, like storage of a network. */
  sharedFolder?: string
  /** Keeps addresses, host keys and logins for the next lab with the same file. Default: they are new. */
  identityFile?: string | undefined
}

/** Options of a lab's Slurm cluster, named `lab`. */
export interface SlurmOptions {
  /** A second controller, which takes over when the first one is down. */
  backup?: boolean
  /** slurmdbd on MariaDB, on the first controller. */
  accounting?: boolean
  /** The controllers are behind the bastion; so are all nodes when they are given as a number. */
  behindBastion?: boolean
  /** Settings of slurm.conf that replace the lab's. */
  config?: Record<string, string>
  /** Another release than Debian's: its folder on this machine, and the path it was built for, where nodes see it. */
  release?: { folder: string; prefix: string }
}

/** The Slurm cluster of a lab. */
export interface LabSlurm {
  /** The nodes that run slurmctld, the primary first. */
  controllers: LabNode[]
  /** The nodes that run slurmd. */
  compute: LabNode[]
  /** Folder of Slurm's programs on the nodes; null: they are on the path. */
  programFolder: string | null
  /** Runs argv in a controller (default the primary) without SSH, as root or another user of the node. */
  run(argv: string[], options?: { user?: string; on?: string; input?: string }): Promise<ExecResult>
  /** Submits a shell script as `ops` and returns the job ID. Throws when it is rejected. */
  submit(script: string, options?: string[], user?: string): Promise<string>
  /** Resolves when all compute nodes can run jobs. */
  ready(): Promise<void>
}

export type LabMode = 'namespaces' | 'loopback'

export interface KeyLogin {
  username: string
  /** OpenSSH PEM without a passphrase. */
  privateKey: string
  publicKey: string
  /** A second authorized key: OpenSSH PEM, encrypted with `passphrase`. */
  encryptedPrivateKey: string
  passphrase: string
}

export interface PasswordLogin {
  username: string
  password: string
}

/** Logins of the nodes; null where the lab's mode does not support one. */
export interface LabCredentials {
  /** `ops`: key login, sudo without a password. */
  sshKey: KeyLogin
  /** `ops`: password login. */
  sshPassword: PasswordLogin | null
  /** `root`: login with the key of `ops`. */
  rootKey: KeyLogin | null
  /** `admin`: key and password login, sudo with the password. */
  sudoPassword: PasswordLogin | null
  /** `plain`: password login, no sudo. */
  plainPassword: PasswordLogin | null
  /** root's password for su; SSH rejects it. */
  rootPassword: PasswordLogin | null
  bastionKey: KeyLogin | null
  bastionPassword: PasswordLogin | null
}

export interface ExecResult {
  code: number
  stdout: string
  stderr: string
}

export interface LabHost {
  name: string
  /** IPv4 address, unique among the hosts of all running labs. */
  host: string
  port: number
  /** Fingerprint of the current host key in OpenSSH format, `SHA256:…`. */
  readonly hostKeyFingerprint: string
  /** Current host key, `ssh-ed25519 AAAA…`. */
  readonly hostPublicKey: string
  /** The kernel's boot id inside the node. */
  bootId(): Promise<string>
  /** Runs argv as root inside the node without SSH. Does not throw on a non-zero exit code. */
  exec(argv: string[], options?: { input?: string }): Promise<ExecResult>
}

export interface LabNode extends LabHost {
  profile: ProfileName
  behindBastion: boolean
  accelerators: AcceleratorCounts
}

export type LabBastion = LabHost

/** Faults and their optional arguments. */
export interface FaultArguments {
  /** The node's link is down: packets are dropped. */
  'link-down': Record<string, never>
  /** One-way delay and packet loss in both directions. */
  latency: { ms?: number; lossPercent?: number }
  /** sshd uses another host key. */
  'changed-host-key': Record<string, never>
  /** The root file system is full. */
  'full-disk': Record<string, never>
  /** The tool (default: the profile's) prints endlessly. */
  'endless-output': { tool?: string }
  /** The tool hangs and ignores SIGTERM. */
  'hung-tool': { tool?: string }
  /** The tool prints 10 MB and exits. */
  'flood-tool': { tool?: string }
  /** Every session waits before its command starts. */
  'slow-shell': { seconds?: number }
  /** The port accepts connections and sends nothing. */
  tarpit: Record<string, never>
  /** The port refuses connections; open sessions continue. */
  'port-closed': Record<string, never>
  /** sshd and all its sessions are killed. */
  'sshd-stop': Record<string, never>
  /** The node restarts, after an optional downtime. */
  reboot: { downMs?: number }
  /** The node is off until it is healed. */
  'power-off': Record<string, never>
  'no-python': Record<string, never>
  /** sudo rejects all users. */
  'sudo-denied': Record<string, never>
  /** The tool prints the first half of its output. */
  'truncated-output': { tool?: string }
  /** slurmctld is stopped. */
  'controller-stop': Record<string, never>
  /** slurmctld is stopped with SIGSTOP: it accepts connections and does not answer. */
  'controller-freeze': Record<string, never>
  /** munged uses another key than the rest of the cluster. */
  'wrong-munge-key': Record<string, never>
  /** The clock of munged and `date` is ahead. */
  'clock-skew': { seconds?: number }
  /** slurm.conf has an unknown key. */
  'broken-slurm-conf': Record<string, never>
}

export type FaultName = keyof FaultArguments

export interface Lab extends AsyncDisposable {
  id: string
  mode: LabMode
  /** State directory, mode 0700. */
  dir: string
  /** This machine's IPv4 address on the nodes' network. */
  hostAddress: string
  nodes: LabNode[]
  bastion: LabBastion | null
  /** Null without the option `slurm`. */
  slurm: LabSlurm | null
  credentials: LabCredentials
  /** Faults that this lab does not support, with the reason. */
  unavailable: Partial<Record<FaultName, string>>
  /** Returns the node with that name; throws when there is none. */
  node(name: string): LabNode
  fault<F extends FaultName>(node: string, name: F, args?: FaultArguments[F]): Promise<void>
  /** Reverts the faults of one node, or of all. Resolves when the nodes answer again. */
  heal(node?: string): Promise<void>
  /** Resolves when the node has booted and its sshd listens, with the boot id. */
  ready(node: string): Promise<string>
  /** Stops the lab and removes everything that belongs to it. Idempotent. */
  down(): Promise<void>
}
