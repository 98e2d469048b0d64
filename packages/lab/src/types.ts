import type { ProfileName } from './profiles.ts'

/** Kinds of accelerator a profile holds, with how many of each a correct discovery of the node reports. */
export type AcceleratorCounts = Partial<Record<'nvidia_gpu' | 'amd_gpu' | 'intel_gpu' | 'huawei_npu' | 'thead_npu', number>>

/** One node to bring up, when a bare count of them does not say enough. */
export interface NodeOptions {
  name: string
  profile?: ProfileName
  /** In a segment of its own that only the bastion reaches. */
  behindBastion?: boolean
  /** false: no Python interpreter anywhere on the node. */
  python?: boolean
  /** false: a machine as it comes from the factory, with its devices on PCI and none of the vendor's tools and drivers. */
  tools?: boolean
}

export interface LabOptions {
  /** How many nodes of the standard room, or exactly these. Default 8. */
  nodes?: number | NodeOptions[]
  /** false: a counted room gets no bastion and all its nodes stand in the open. */
  bastion?: boolean
  /** `auto` takes namespaces as root and loopback sshd processes otherwise. */
  mode?: LabMode | 'auto'
}

export type LabMode = 'namespaces' | 'loopback'

export interface KeyLogin {
  username: string
  /** OpenSSH PEM without a passphrase. */
  privateKey: string
  publicKey: string
  /** A second authorised key, in OpenSSH PEM under `passphrase`. */
  encryptedPrivateKey: string
  passphrase: string
}

export interface PasswordLogin {
  username: string
  password: string
}

/** Every way into the nodes. `null` where the lab's mode cannot offer it. */
export interface LabCredentials {
  /** `ops`: key login, sudo without a password. */
  sshKey: KeyLogin
  /** `ops`: the same user by password. */
  sshPassword: PasswordLogin | null
  /** `root` by the same key as `ops`. */
  rootKey: KeyLogin | null
  /** `admin`: key and password login, sudo asks for the password. */
  sudoPassword: PasswordLogin | null
  /** `plain`: password login, no sudo at all. */
  plainPassword: PasswordLogin | null
  /** root's own password, for su; SSH refuses it. */
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
  /** IPv4 address. Distinct for every host of every running lab. */
  host: string
  port: number
  /** Current host key's fingerprint as OpenSSH prints it, `SHA256:…`. */
  readonly hostKeyFingerprint: string
  /** Current host key, `ssh-ed25519 AAAA…`. */
  readonly hostPublicKey: string
  /** The kernel's boot id as the node's users see it. */
  bootId(): Promise<string>
  /** Runs argv as root inside the node without SSH. A non-zero exit code is an answer, not an error. */
  exec(argv: string[], options?: { input?: string }): Promise<ExecResult>
}

export interface LabNode extends LabHost {
  profile: ProfileName
  behindBastion: boolean
  accelerators: AcceleratorCounts
}

export type LabBastion = LabHost

/** Faults and what their optional arguments mean. */
export interface FaultArguments {
  /** The node's cable is out: packets vanish. */
  'link-down': Record<string, never>
  /** One-way delay and loss on what the node sends and receives. */
  latency: { ms?: number; lossPercent?: number }
  /** sshd answers with another host key. */
  'changed-host-key': Record<string, never>
  /** The root file system has no byte left. */
  'full-disk': Record<string, never>
  /** The tool (default: the profile's own) prints without end. */
  'endless-output': { tool?: string }
  /** The tool never answers and ignores SIGTERM. */
  'hung-tool': { tool?: string }
  /** The tool prints 10 MB and ends. */
  'flood-tool': { tool?: string }
  /** Every session waits before its command starts. */
  'slow-shell': { seconds?: number }
  /** The port accepts connections and never speaks. */
  tarpit: Record<string, never>
  /** The port refuses connections; open sessions stay. */
  'port-closed': Record<string, never>
  /** sshd and all its sessions are gone. */
  'sshd-stop': Record<string, never>
  /** The node restarts, optionally staying away for `downMs`. */
  reboot: { downMs?: number }
  /** The node is off until it is healed. */
  'power-off': Record<string, never>
  'no-python': Record<string, never>
  /** sudo refuses everybody. */
  'sudo-denied': Record<string, never>
}

export type FaultName = keyof FaultArguments

export interface Lab extends AsyncDisposable {
  id: string
  mode: LabMode
  /** State directory, mode 0700. */
  dir: string
  /** This machine's IPv4 address as the nodes see it. */
  hostAddress: string
  nodes: LabNode[]
  bastion: LabBastion | null
  credentials: LabCredentials
  /** Faults that this lab cannot cause, each with the reason. */
  unavailable: Partial<Record<FaultName, string>>
  /** The node (or bastion) of that name; throws if there is none. */
  node(name: string): LabNode
  fault<F extends FaultName>(node: string, name: F, args?: FaultArguments[F]): Promise<void>
  /** Undoes the faults of one node, or of all. Returns when the nodes answer again. */
  heal(node?: string): Promise<void>
  /** Resolves when the node has booted and its sshd listens, with the boot id. */
  ready(node: string): Promise<string>
  /** Takes everything down and returns when nothing is left of it. May be called twice. */
  down(): Promise<void>
}
