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

const rebootAllowed = bool('Reboot a node when its driver works only after that; else the run says that a reboot is due.', false)

/** Sources of packages: the vendor, a mirror with the same layout, or files. */
const sources = (role: string, vendorUrl: string, keyHint: string): Record<string, Vars> => ({
  [`${role}_repository_url`]: text('A mirror with the same layout as this.', vendorUrl, URL_PATTERN),
  [`${role}_repository_key`]: text(`URL of the key that signs the repository, when it is not ${keyHint}.`, '', URL_PATTERN),
  [`${role}_offline_dir`]: offlineDir('package files (.deb or .rpm)'),
})
const offlineDir = (what: string) =>
  text(
    `Take ${what} from a folder and ask no repository: an absolute path on the node, or a path below files/ beside the playbooks.`,
    '',
    '^[^{}]*$',
  )

const CUDA = 'https://developer.download.nvidia.com/compute/cuda/repos'
const driver = { category: 'drivers', become: true, timeoutSeconds: 7200, forks: 10 } as const
const exporter = { category: 'monitoring', become: true, timeoutSeconds: 1800, forks: 20 } as const
const discovery = { category: 'discovery', forks: 50, isReadOnly: true } as const

/**
 * The built-in templates; their playbooks are in `playbooks/`. None is marked idempotent, although a second run is harmless. The
 * user sees that the worker was lost and starts the run again.
 */
export const BUILT_IN_TEMPLATES = [
  {
    ...discovery,
    name: 'collect_facts',
    displayName: 'Collect facts',
    description: 'Finds out what each node is: system, CPU, memory, disks, network, and its accelerators with their state.',
    playbookPath: 'collect_facts.yml',
    timeoutSeconds: 1800,
  },
  {
    ...discovery,
    name: 'connectivity_check',
    displayName: 'Check connectivity',
    description: 'Logs in to each node and runs a module there: SSH, Python and, with become, privilege escalation work.',
    playbookPath: 'connectivity_check.yml',
    timeoutSeconds: 600,
  },
  {
    ...driver,
    name: 'install_nvidia_driver',
    displayName: 'Install NVIDIA driver',
    description:
      'Installs a branch of the NVIDIA driver with CUDA, and the fabric manager where there are NVSwitches; reboots if needed and allowed, and asks nvidia-smi.',
    playbookPath: 'install_nvidia_driver.yml',
    inputSchema: inputs({
      nvidia_driver_version: text('Branch of the driver.', '535', '^[0-9]{3}$'),
      nvidia_driver_module: choice('Flavour of the kernel modules: open needs Turing or newer, Blackwell needs open.', [
        'closed',
        'open',
      ]),
      install_cuda: bool('Install the CUDA toolkit as well.', true),
      cuda_version: {
        ...text('Its version: 12 for the newest of these, or 12.2.', '12', '^[0-9]+([.][0-9]+)?$'),
        'x-show-if': { install_cuda: true },
      },
      install_fabricmanager: bool(
        'Install the fabric manager even where no NVSwitch is seen; where one is, it is installed in any case.',
        false,
      ),
      reboot_allowed: rebootAllowed,
      ...sources('nvidia_driver', CUDA, 'beside it'),
    }),
  },
  {
    ...driver,
    name: 'install_amd_driver',
    displayName: 'Install AMD driver',
    description: 'Installs the amdgpu driver and ROCm; reboots if needed and allowed, and asks amd-smi.',
    playbookPath: 'install_amd_driver.yml',
    inputSchema: inputs({
      rocm_version: text('Version of ROCm.', '6.4.3', VERSION),
      amd_driver_version: text(
        'Version of the kernel driver: up to ROCm 6.4 that of ROCm, from 7.0 on its own, such as 30.10.',
        '6.4.3',
        VERSION,
      ),
      install_rocm: bool('Install ROCm as well.', true),
      reboot_allowed: rebootAllowed,
      ...sources('amd_driver', 'https://repo.radeon.com', 'rocm/rocm.gpg.key below it'),
    }),
  },
  {
    ...driver,
    name: 'install_intel_driver',
    displayName: 'Install Intel driver',
    description: 'Installs the Intel GPU driver, xpu-smi and oneAPI; reboots if needed and allowed, and asks xpu-smi.',
    playbookPath: 'install_intel_driver.yml',
    inputSchema: inputs({
      intel_driver_channel: text('Release line of the driver, as in Intel’s repository.', 'lts/2350', '^[a-z0-9/.]+$'),
      install_oneapi: bool('Install the oneAPI base toolkit as well.', true),
      oneapi_version: {
        ...text('Its version, such as 2025.2; nothing means the newest.', '', '^([0-9]{4}[.][0-9]+)?$'),
        'x-show-if': { install_oneapi: true },
      },
      reboot_allowed: rebootAllowed,
      ...sources('intel_driver', 'https://repositories.intel.com', 'gpu/intel-graphics.key below it'),
      intel_driver_oneapi_url: text('A mirror of apt.repos.intel.com/oneapi or yum.repos.intel.com/oneapi.', '', URL_PATTERN),
      intel_driver_oneapi_key: text('URL of the key that signs it, when it is not Intel’s.', '', URL_PATTERN),
    }),
  },
  {
    ...driver,
    name: 'install_ascend_driver',
    displayName: 'Install Ascend driver',
    description:
      'Installs the Ascend NPU driver, its firmware and CANN, in this order; reboots if needed and allowed, and asks npu-smi.',
    playbookPath: 'install_ascend_driver.yml',
    inputSchema: inputs({
      ascend_driver_version: text('Version of the driver.', '24.1.rc1', VERSION),
      ascend_driver_firmware_version: text('Version of the firmware that Huawei lists beside it.', '7.1.0.6.220', VERSION),
      ascend_driver_chip: text('The chip, as in the names of the packages: 910b, 910, 310p.', '910b', '^[0-9a-z]+$'),
      install_cann: bool('Install CANN as well: toolkit and kernels.', true),
      cann_version: { ...text('Version of CANN.', '8.0.RC1', VERSION), 'x-show-if': { install_cann: true } },
      reboot_allowed: rebootAllowed,
      ascend_driver_repository_url: text(
        'A mirror with the .run files side by side; nothing means Huawei’s servers.',
        '',
        URL_PATTERN,
      ),
      ascend_driver_hdk_folder: text(
        'The folder of the driver’s release on Huawei’s servers.',
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
        'the .run files, and packages of make, gcc, dkms and the kernel headers where missing,',
      ),
    }),
  },
  {
    ...exporter,
    name: 'deploy_node_exporter',
    displayName: 'Deploy node_exporter',
    description: 'Installs Prometheus node_exporter as a service and reads its metrics.',
    playbookPath: 'deploy_node_exporter.yml',
    inputSchema: inputs({
      node_exporter_port: port('The port that it listens on.', 9100),
      node_exporter_address: text('The address that it listens on; nothing means every one.', '', '^[0-9a-fA-F.:[\\]]*$'),
      node_exporter_arguments: {
        type: 'array',
        items: { type: 'string', pattern: '^--[0-9A-Za-z.=,:/_^$|()*+?-]+$', maxLength: 500 },
        maxItems: 50,
        description: 'Further arguments, such as --collector.systemd.',
        examples: [[]],
      },
      ...sources('node_exporter', '', 'repository.asc in it'),
    }),
  },
  {
    ...exporter,
    name: 'deploy_dcgm_exporter',
    displayName: 'Deploy DCGM exporter',
    description: 'Runs NVIDIA’s DCGM exporter, as a package with a service or as a container in docker, and reads its metrics.',
    playbookPath: 'deploy_dcgm_exporter.yml',
    inputSchema: inputs({
      deploy_mode: choice('As a package with a service, or as a container.', ['systemd', 'docker']),
      dcgm_exporter_port: port('The port that it listens on.', 9400),
      dcgm_exporter_packages: {
        type: 'array',
        items: { type: 'string', pattern: '^[0-9A-Za-z.+=:~-]+$', maxLength: 100 },
        maxItems: 10,
        description: 'DCGM for the CUDA of the node’s driver, and the exporter that goes with it.',
        examples: [['datacenter-gpu-manager-4-cuda12', 'datacenter-gpu-manager-exporter']],
        'x-show-if': { deploy_mode: 'systemd' },
      },
      ...sources('dcgm_exporter', CUDA, 'beside it'),
      dcgm_exporter_image: {
        ...text(
          'The container’s image, perhaps from a registry of your own.',
          'nvcr.io/nvidia/k8s/dcgm-exporter:4.2.3-4.1.3-ubuntu22.04',
          '^[0-9A-Za-z./:@_-]+$',
        ),
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
      muster_agent_api_url: text('Where agents reach the API.', 'https://muster.example.org', '^https?://[^ ]+$'),
      muster_agent_cluster_id: text('The cluster that they say they belong to.', 'cluster-1', '^[^{}]{1,128}$'),
      muster_agent_token: {
        type: 'string',
        maxLength: 256,
        description: 'The one-time token, for a run on one node; for many, each node has its own as a secret variable.',
        'x-secret': true,
      },
      muster_agent_url: text('URL of the folder with the binaries, named as the build names them.', '', URL_PATTERN),
      muster_agent_checksum: text('SHA-256 of the binary.', '', '^([0-9a-f]{64})?$'),
      muster_agent_offline_dir: offlineDir('the binary'),
      muster_agent_ca: {
        ...text('PEM of the authority that signed the API’s certificate, if it is a private one.', ''),
        maxLength: 20_000,
      },
      muster_agent_region: text('The region that the nodes are in.', '', '^[^{}]*$'),
      muster_agent_datacenter: text('The datacenter that they are in.', '', '^[^{}]*$'),
      muster_agent_latency_targets: {
        type: 'array',
        items: { type: 'string', pattern: '^[0-9A-Za-z.:[\\]_-]+$', maxLength: 255 },
        maxItems: 64,
        description: 'Machines to which each node measures its way, with or without a port.',
        examples: [[]],
      },
    }),
  },
] satisfies Row[]
