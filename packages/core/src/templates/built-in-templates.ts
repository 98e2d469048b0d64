import type { jobTemplates, Vars } from './tables.ts'

type Row = Omit<typeof jobTemplates.$inferInsert, 'tenantId'>

/**
 * JSON Schema of a run's inputs. It has no defaults, because they would become the run's own variables and override those of
 * groups and nodes. The role's `defaults/main.yml` has them, below all layers of Muster. The first example shows each default.
 */
const inputs = (properties: Record<string, Vars>): Vars => ({ type: 'object', properties, additionalProperties: false })

const text = (description: string, example: string, pattern?: string): Vars => ({
  type: 'string',
  description,
  examples: [example],
  maxLength: 500,
  ...(pattern ? { pattern } : {}),
})
const bool = (description: string, example: boolean): Vars => ({ type: 'boolean', description, examples: [example] })
const choice = (description: string, values: string[]): Vars => ({ enum: values, description, examples: [values[0]] })
const port = (description: string, example: number): Vars => ({
  type: 'integer',
  minimum: 1,
  maximum: 65_535,
  description,
  examples: [example],
})
const URL_PATTERN = '^((https?|file)://[^ ]+)?$'
const VERSION = '^[0-9A-Za-z.]+$'

const rebootAllowed: Vars = {
  ...bool('Reboot a node if its driver requires it. Otherwise the run only reports the pending reboot.', false),
  'x-reboots': true,
}

/** Sources of packages: the vendor, a mirror with the same layout, or files. */
const sources = (role: string, vendorUrl: string, keyHint: string): Record<string, Vars> => ({
  [`${role}_repository_url`]: text('URL of the repository, or of a mirror with the same layout.', vendorUrl, URL_PATTERN),
  [`${role}_repository_key`]: text(`URL of the signing key of the repository. Default: ${keyHint}.`, '', URL_PATTERN),
  [`${role}_offline_dir`]: offlineDir('package files (.deb or .rpm)'),
})
const offlineDir = (what: string) =>
  text(
    `Folder with ${what}, for an installation without repositories: an absolute path on the node, or a path below files/ next to the playbooks.`,
    '',
    '^[^{}]*$',
  )

const CUDA = 'https://developer.download.nvidia.com/compute/cuda/repos'
const driver = { category: 'drivers', become: true, timeoutSeconds: 7200, forks: 10 } as const
const exporter = { category: 'monitoring', become: true, timeoutSeconds: 1800, forks: 20 } as const
const slurmHosts = (description: string) => ({
  ...{ type: 'array', items: { type: 'string', maxLength: 255 }, maxItems: 10_000 },
  ...{ description, examples: [[]] },
})
/** Operations on clusters start them, and continue after the loss of a worker. */
const slurm = { category: 'slurm', become: true, isIdempotent: true, timeoutSeconds: 3600, forks: 20 } as const
const discovery = { category: 'discovery', forks: 50, isReadOnly: true } as const

/**
 * The built-in templates; their playbooks are in `playbooks/`. Those that users start are not marked idempotent, although a second
 * run is harmless: the user sees that the worker was lost and starts the run again.
 */
/** Built-in templates that check nothing about the cluster: users change clusters, and their operations run these. */
export const OPERATION_TEMPLATES: readonly string[] = ['slurm_node', 'slurm_configure', 'slurm_power']

export const BUILT_IN_TEMPLATES = [
  {
    ...discovery,
    name: 'collect_facts',
    displayName: 'Collect facts',
    description: 'Collects facts of each node: system, CPU, memory, disks, network, and accelerators with their state.',
    playbookPath: 'collect_facts.yml',
    timeoutSeconds: 1800,
  },
  {
    ...discovery,
    name: 'connectivity_check',
    displayName: 'Check connectivity',
    description: 'Logs in to each node and runs a module, which checks SSH, Python and, with become, privilege escalation.',
    playbookPath: 'connectivity_check.yml',
    timeoutSeconds: 600,
  },
  {
    ...driver,
    name: 'install_nvidia_driver',
    displayName: 'Install NVIDIA driver',
    description:
      'Installs the NVIDIA driver and CUDA, and the fabric manager on nodes with NVSwitches. Reboots if required and allowed, then checks with nvidia-smi.',
    playbookPath: 'install_nvidia_driver.yml',
    inputSchema: inputs({
      nvidia_driver_version: text('Driver branch.', '535', '^[0-9]{3}$'),
      nvidia_driver_module: choice('Kernel modules: open requires Turing or newer; Blackwell requires open.', ['closed', 'open']),
      install_cuda: bool('Install the CUDA toolkit.', true),
      cuda_version: {
        ...text('CUDA version: 12 for the newest 12.x, or an exact one such as 12.2.', '12', '^[0-9]+([.][0-9]+)?$'),
        'x-show-if': { install_cuda: true },
      },
      install_fabricmanager: bool('Install the fabric manager on nodes without a detected NVSwitch too.', false),
      reboot_allowed: rebootAllowed,
      ...sources('nvidia_driver', CUDA, 'the key in the repository'),
    }),
  },
  {
    ...driver,
    name: 'install_amd_driver',
    displayName: 'Install AMD driver',
    description: 'Installs the amdgpu driver and ROCm. Reboots if required and allowed, then checks with amd-smi.',
    playbookPath: 'install_amd_driver.yml',
    inputSchema: inputs({
      rocm_version: text('ROCm version.', '6.4.3', VERSION),
      amd_driver_version: text(
        'Kernel driver version. Up to ROCm 6.4 it equals the ROCm version; from 7.0 on it differs, for example 30.10.',
        '6.4.3',
        VERSION,
      ),
      install_rocm: bool('Install ROCm.', true),
      reboot_allowed: rebootAllowed,
      ...sources('amd_driver', 'https://repo.radeon.com', 'rocm/rocm.gpg.key in the repository'),
    }),
  },
  {
    ...driver,
    name: 'install_intel_driver',
    displayName: 'Install Intel driver',
    description: 'Installs the Intel GPU driver, xpu-smi and oneAPI. Reboots if required and allowed, then checks with xpu-smi.',
    playbookPath: 'install_intel_driver.yml',
    inputSchema: inputs({
      intel_driver_channel: text('Driver channel in Intel’s repository.', 'lts/2350', '^[a-z0-9/.]+$'),
      install_oneapi: bool('Install the oneAPI base toolkit.', true),
      oneapi_version: {
        ...text('oneAPI version, such as 2025.2. Empty: the newest.', '', '^([0-9]{4}[.][0-9]+)?$'),
        'x-show-if': { install_oneapi: true },
      },
      reboot_allowed: rebootAllowed,
      ...sources('intel_driver', 'https://repositories.intel.com', 'gpu/intel-graphics.key in the repository'),
      intel_driver_oneapi_url: text(
        'URL of a mirror of apt.repos.intel.com/oneapi or yum.repos.intel.com/oneapi.',
        '',
        URL_PATTERN,
      ),
      intel_driver_oneapi_key: text('URL of the signing key of the mirror. Default: Intel’s key.', '', URL_PATTERN),
    }),
  },
  {
    ...driver,
    name: 'install_ascend_driver',
    displayName: 'Install Ascend driver',
    description: 'Installs the Ascend NPU driver, firmware and CANN. Reboots if required and allowed, then checks with npu-smi.',
    playbookPath: 'install_ascend_driver.yml',
    inputSchema: inputs({
      ascend_driver_version: text('Driver version.', '24.1.rc1', VERSION),
      ascend_driver_firmware_version: text('Firmware version that Huawei lists for the driver.', '7.1.0.6.220', VERSION),
      ascend_driver_chip: text('Chip, as in the package names: 910b, 910 or 310p.', '910b', '^[0-9a-z]+$'),
      install_cann: bool('Install CANN (toolkit and kernels).', true),
      cann_version: { ...text('CANN version.', '8.0.RC1', VERSION), 'x-show-if': { install_cann: true } },
      reboot_allowed: rebootAllowed,
      ascend_driver_repository_url: text(
        'URL of a mirror with all .run files in one folder. Empty: Huawei’s servers.',
        '',
        URL_PATTERN,
      ),
      ascend_driver_hdk_folder: text(
        'Folder of the driver release on Huawei’s servers.',
        'Milan-ASL/Milan-ASL%20V100R001C17SPC702',
        '^[0-9A-Za-z/.%_-]+$',
      ),
      ascend_driver_checksums: {
        type: 'array',
        items: { type: 'string', pattern: '^[0-9a-fA-F]{64} [ *][^ {}]+$', maxLength: 500 },
        maxItems: 50,
        description: 'Output of sha256sum for the .run files. Required for every file that is downloaded.',
        examples: [[]],
      },
      ascend_driver_offline_dir: offlineDir(
        'the .run files, and the packages of make, gcc, dkms and kernel headers that the nodes lack',
      ),
    }),
  },
  {
    ...exporter,
    name: 'deploy_node_exporter',
    displayName: 'Deploy node_exporter',
    description: 'Installs Prometheus node_exporter as a service and checks its metrics.',
    playbookPath: 'deploy_node_exporter.yml',
    inputSchema: inputs({
      node_exporter_port: port('Listen port.', 9100),
      node_exporter_address: text('Listen address. Empty: all addresses.', '', '^[0-9a-fA-F.:[\\]]*$'),
      node_exporter_arguments: {
        type: 'array',
        items: { type: 'string', pattern: '^--[0-9A-Za-z.=,:/_^$|()*+?-]+$', maxLength: 500 },
        maxItems: 50,
        description: 'Additional arguments, such as --collector.systemd.',
        examples: [[]],
      },
      ...sources('node_exporter', '', 'repository.asc in the repository'),
    }),
  },
  {
    ...exporter,
    name: 'deploy_dcgm_exporter',
    displayName: 'Deploy DCGM exporter',
    description: 'Deploys NVIDIA’s DCGM exporter as a systemd service or a Docker container, and checks its metrics.',
    playbookPath: 'deploy_dcgm_exporter.yml',
    inputSchema: inputs({
      deploy_mode: choice('Deployment mode: systemd service or Docker container.', ['systemd', 'docker']),
      dcgm_exporter_port: port('Listen port.', 9400),
      dcgm_exporter_packages: {
        type: 'array',
        items: { type: 'string', pattern: '^[0-9A-Za-z.+=:~-]+$', maxLength: 100 },
        maxItems: 10,
        description: 'Packages of DCGM for the CUDA version of the driver, and of the matching exporter.',
        examples: [['datacenter-gpu-manager-4-cuda12', 'datacenter-gpu-manager-exporter']],
        'x-show-if': { deploy_mode: 'systemd' },
      },
      ...sources('dcgm_exporter', CUDA, 'the key in the repository'),
      dcgm_exporter_image: {
        ...text('Container image.', 'nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.1.3-ubuntu22.04', '^[0-9A-Za-z./:@_-]+$'),
        'x-show-if': { deploy_mode: 'docker' },
      },
    }),
  },
  {
    ...exporter,
    name: 'deploy_muster_agent',
    displayName: 'Deploy the Muster agent',
    description: 'Installs the node agent, enrolls it with a one-time token and waits for its first heartbeat.',
    playbookPath: 'deploy_muster_agent.yml',
    inputSchema: inputs({
      muster_agent_api_url: text('URL of the API as seen from the nodes.', 'https://muster.example.org', '^https?://[^ ]+$'),
      muster_agent_cluster_id: text('Cluster ID that the agents report.', 'cluster-1', '^[^{}]{1,128}$'),
      muster_agent_token: {
        type: 'string',
        maxLength: 256,
        description:
          'One-time enrollment token, for a run on one node. For several nodes, set it as a secret variable of each node.',
        'x-secret': true,
      },
      muster_agent_url: text('URL of the folder with the binaries as named by the build.', '', URL_PATTERN),
      muster_agent_checksum: text('SHA-256 of the binary.', '', '^([0-9a-f]{64})?$'),
      muster_agent_offline_dir: offlineDir('the binary'),
      muster_agent_ca: {
        ...text('CA certificate of the API in PEM. Empty: the CAs of the system.', ''),
        maxLength: 20_000,
      },
      muster_agent_region: text('Region of the nodes.', '', '^[^{}]*$'),
      muster_agent_datacenter: text('Datacenter of the nodes.', '', '^[^{}]*$'),
      muster_agent_latency_targets: {
        type: 'array',
        items: { type: 'string', pattern: '^[0-9A-Za-z.:[\\]_-]+$', maxLength: 255 },
        maxItems: 64,
        description: 'Hosts to which each node measures latency, with an optional port.',
        examples: [[]],
      },
    }),
  },
  {
    ...slurm,
    name: 'slurm_node',
    displayName: 'Install Slurm on nodes',
    description:
      'Installs munge and a daemon of Slurm, or removes them. Operations on managed clusters run it; the munge key is a secret variable of the cluster’s group.',
    playbookPath: 'slurm_node.yml',
    inputSchema: inputs({
      slurm_node_state: choice('Install or remove Slurm.', ['present', 'absent']),
      slurm_node_role: choice('What the nodes do in their cluster.', ['compute', 'controller', 'login', 'database']),
      slurm_node_start: bool('Start the daemon. Otherwise it is only installed.', true),
      slurm_node_controllers: {
        type: 'array',
        items: { type: 'string', pattern: '^[0-9A-Za-z.:[\\]_-]+$', maxLength: 255 },
        maxItems: 4,
        description: 'Addresses of the controllers, with an optional port, from which slurmd gets its configuration.',
        examples: [[]],
      },
      slurm_node_name: text('NodeName of slurmd, for a run on one node. Empty: the host name.', '', '^[0-9A-Za-z._-]*$'),
      slurm_node_config: {
        type: 'object',
        additionalProperties: { type: 'string', maxLength: 1_000_000 },
        maxProperties: 10,
        description: 'Files of /etc/slurm by name, for controllers without any and for login nodes.',
        examples: [{}],
      },
      slurm_node_state_folder: text('Folder of the controller’s state.', '/var/spool/slurmctld', '^/[0-9A-Za-z/._-]+$'),
      slurm_node_prefix: text(
        'Folder with an installed Slurm, such as /opt/slurm. Empty: the packages are installed.',
        '',
        '^(/[0-9A-Za-z/._+-]+)?$',
      ),
      slurm_node_manage_packages: bool('Install or remove the packages. Otherwise something else does, such as Salt.', true),
      ...sources('slurm_node', '', 'repository.asc in the repository'),
    }),
  },
  {
    ...slurm,
    name: 'slurm_configure',
    displayName: 'Write the configuration of Slurm',
    description:
      'Writes configuration files of Slurm where they are as expected, after Slurm has checked them, and makes a service read them. Rollouts of configurations run it.',
    playbookPath: 'slurm_configure.yml',
    inputSchema: inputs({
      slurm_config_folder: text('Folder of the files.', '/etc/slurm', '^/[0-9A-Za-z/._+-]+$'),
      slurm_config_files: {
        type: 'object',
        additionalProperties: { type: 'string', maxLength: 1_000_000 },
        maxProperties: 4,
        description: 'Texts by file name.',
        examples: [{}],
      },
      slurm_config_expected: {
        type: 'object',
        additionalProperties: { type: 'array', items: { type: 'string', pattern: '^([0-9a-f]{64})?$' }, maxItems: 4 },
        maxProperties: 4,
        description: 'SHA-256 hashes that each file may have before, by file name. An empty text: the file is missing.',
        examples: [{}],
      },
      slurm_config_hosts: slurmHosts('Names of the hosts that get the files.'),
      slurm_config_new: slurmHosts('Names of the hosts that had no files. A restore removes them there.'),
      slurm_config_controllers: slurmHosts('Names of the hosts with slurmctld, the primary first.'),
      slurm_config_stopped: slurmHosts('Names of the hosts on which slurmctld stops, because the files do not name them.'),
      slurm_config_restart: {
        type: 'boolean',
        description: 'Whether slurmctld is restarted. All daemons reread the files, also without a restart.',
        examples: [false],
      },
      slurm_config_restore: {
        type: 'boolean',
        description: 'Whether earlier files are restored: a host that fails does not end the run for the others.',
        examples: [false],
      },
      slurm_config_daemons: slurmHosts('Names of the hosts whose slurmd is restarted.'),
      slurm_config_programs: text(
        'Folder of Slurm’s programs, such as /opt/slurm/bin. Empty: they are on the path.',
        '',
        '^(/[0-9A-Za-z/._+-]+)?$',
      ),
    }),
  },
  {
    ...slurm,
    name: 'slurm_power',
    displayName: 'Let Slurm power nodes',
    description:
      'Installs the programs with which slurmctld powers nodes on and off through Muster, or removes them. Power saving of managed clusters runs it; the token is a secret variable of the controllers.',
    playbookPath: 'slurm_power.yml',
    inputSchema: inputs({
      slurm_power_state: choice('Install or remove the programs.', ['present', 'absent']),
      slurm_power_url: text('Address of the API of Muster, with https.', '', '^(https://[^\\s]+)?$'),
      slurm_power_ca: {
        type: 'string',
        maxLength: 100_000,
        description: 'PEM certificates of the only accepted authorities. Empty: those that the host trusts.',
        examples: [''],
      },
      slurm_power_user: text('Account of slurmctld.', 'slurm', '^[a-z_][a-z0-9_-]*$'),
      slurm_power_suspend_seconds: {
        ...{ type: 'integer', minimum: 0, maximum: 65_533, examples: [240] },
        description: 'Seconds in which a suspend is repeated while Muster does not answer, or nodes wait.',
      },
      slurm_power_resume_seconds: {
        ...{ type: 'integer', minimum: 0, maximum: 65_533, examples: [480] },
        description: 'Seconds in which a resume is repeated while Muster does not answer, or nodes wait.',
      },
    }),
  },
] satisfies Row[]
