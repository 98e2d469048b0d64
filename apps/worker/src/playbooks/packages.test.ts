import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'

// Packages and repositories on systems that the lab cannot run. The real Ansible evaluates the variables of the roles with facts of
// those systems.
const roles = path.resolve(import.meta.dirname, '../../../../playbooks/roles')

const facts = (distribution: string, version: string, release: string, architecture = 'x86_64') => ({
  ansible_distribution: distribution,
  ansible_distribution_version: version,
  ansible_distribution_major_version: version.split('.')[0],
  ansible_distribution_release: release,
  ansible_os_family: ['Ubuntu', 'Debian'].includes(distribution) ? 'Debian' : 'RedHat',
  ansible_architecture: architecture,
  ansible_kernel: 'KERNEL',
})
const systems = {
  jammy: facts('Ubuntu', '22.04', 'jammy'),
  'noble-arm': facts('Ubuntu', '24.04', 'noble', 'aarch64'),
  bookworm: facts('Debian', '12.9', 'bookworm'),
  rhel8: facts('RedHat', '8.10', 'Ootpa'),
  'rocky9-arm': facts('Rocky', '9.6', 'Blue Onyx', 'aarch64'),
  alma9: facts('AlmaLinux', '9.6', 'Sage Margay'),
  rhel10: facts('RedHat', '10.0', 'Coughlan'),
}

/** By case: the role, the evaluated variables, and inputs that override the role's defaults. */
const questions = {
  nvidia: [
    'nvidia_driver',
    [
      'nvidia_driver_all_packages',
      'nvidia_driver_repository',
      'nvidia_driver_fabricmanager',
      'nvidia_driver_version_package',
      'nvidia_driver_exact',
      'common_nvidia_key',
    ],
    { nvidia_driver_installed: { rc: 0, stdout: 'installed=3:535.154.05-0ubuntu1' } },
  ],
  contrib: [
    'nvidia_driver',
    ['nvidia_driver_without_contrib'],
    {
      nvidia_driver_repositories: {
        stdout_lines: [
          'Debian bookworm main /etc/apt/sources.list.d/debian.sources:1',
          'Debian bookworm-updates main /etc/apt/sources.list:2',
          'HashiCorp bookworm main /etc/apt/sources.list.d/hashicorp.list:1',
        ],
      },
    },
  ],
  enabled: [
    'nvidia_driver',
    ['nvidia_driver_without_contrib'],
    {
      nvidia_driver_repositories: {
        stdout_lines: ['Debian bookworm main /etc/apt/sources.list:1', 'Debian bookworm contrib /etc/apt/sources.list:1'],
      },
    },
  ],
  open550: [
    'nvidia_driver',
    ['nvidia_driver_all_packages', 'nvidia_driver_fabricmanager'],
    { nvidia_driver_version: '550', nvidia_driver_module: 'open', install_cuda: false },
  ],
  open590: [
    'nvidia_driver',
    ['nvidia_driver_all_packages', 'nvidia_driver_fabricmanager', 'nvidia_driver_version_package'],
    { nvidia_driver_version: '590', nvidia_driver_module: 'open', install_cuda: true, cuda_version: '13.1' },
  ],
  amd: ['amd_driver', ['amd_driver_packages', 'amd_driver_repositories'], {}],
  intel: ['intel_driver', ['intel_driver_packages', 'intel_driver_repositories'], { oneapi_version: '2025.2' }],
  ascend: ['ascend_driver', ['ascend_driver_parts', 'ascend_driver_build_packages'], {}],
  node: ['node_exporter', ['node_exporter_package', 'node_exporter_url', 'node_exporter_key'], {}],
} as const

const named = (value: (fact: string) => string) =>
  Object.fromEntries(Object.keys(systems.jammy).map((fact) => [fact, value(fact)]))

type Answers = Record<keyof typeof systems, Record<string, never>>
const answers = Object.fromEntries(Object.keys(questions).map((id) => [id, {}])) as Record<keyof typeof questions, Answers>

beforeAll(async () => {
  const dir = mkdtempSync('/tmp/muster-facts-')
  try {
    const plays = Object.entries(questions).map(([id, [role, names, vars]]) => ({
      hosts: 'all',
      gather_facts: false,
      connection: 'local',
      vars: { systems, common_pci: [['68000', '10DE', '22A3']] },
      tasks: [
        { set_fact: { cacheable: true, ...named((fact) => `{{ systems[inventory_hostname].${fact} }}`) } },
        { include_vars: `${roles}/${role}/defaults/main.yml` },
        { include_vars: `${roles}/${role}/vars/main.yml` },
        { include_vars: `${roles}/common/vars/main.yml` },
        { set_fact: { asked: id, ...vars } },
        {
          debug: {
            msg: `{{ ['${id}', inventory_hostname, {${names.map((name) => `'${name}': ${name}`).join(', ')}}] | to_json }}`,
          },
        },
      ],
    }))
    writeFileSync(path.join(dir, 'plays.yml'), JSON.stringify(plays))
    writeFileSync(path.join(dir, 'hosts'), `${Object.keys(systems).join('\n')}\n`)
    const env = { PATH: process.env.PATH, HOME: dir, LANG: 'C.UTF-8' }
    const argv = ['-i', path.join(dir, 'hosts'), path.join(dir, 'plays.yml')]
    const { stdout } = await promisify(execFile)(process.env.ANSIBLE_PLAYBOOK!, argv, { env }).catch((error) => {
      throw new Error(error.stdout)
    })
    for (const [, message] of stdout.matchAll(/^ +"msg": (".*")$/gm)) {
      const [id, system, values] = JSON.parse(JSON.parse(message!))
      answers[id as keyof typeof questions][system as keyof typeof systems] = values
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})

/** One variable by system; lists joined with spaces. */
const of = (id: keyof typeof questions, name: string): Record<string, string> =>
  Object.fromEntries(Object.entries(answers[id]).map(([system, values]) => [system, [values[name]].flat().map(String).join(' ')]))
const urls = (id: keyof typeof questions, name: string, system: keyof typeof systems) =>
  (answers[id][system][name]! as { url: string; suites?: string; components?: string }[]).map(({ url, suites, components }) =>
    [url, suites, components].filter(Boolean).join(' '),
  )

test('NVIDIA: selects the branch by package name, pinning package or module stream', () => {
  expect(of('nvidia', 'nvidia_driver_all_packages')).toEqual({
    jammy: 'linux-headers-KERNEL nvidia-driver-535 cuda-toolkit-12',
    'noble-arm': 'linux-headers-KERNEL nvidia-driver-535 cuda-toolkit-12',
    bookworm: 'linux-headers-KERNEL cuda-drivers-535 cuda-toolkit-12',
    rhel8: 'kernel-devel-KERNEL @nvidia-driver:535-dkms cuda-toolkit-12',
    'rocky9-arm': 'kernel-devel-KERNEL @nvidia-driver:535-dkms cuda-toolkit-12',
    alma9: 'kernel-devel-KERNEL @nvidia-driver:535-dkms cuda-toolkit-12',
    rhel10: 'kernel-devel-KERNEL cuda-drivers cuda-toolkit-12',
  })
  expect(of('open550', 'nvidia_driver_all_packages')).toMatchObject({
    jammy: 'linux-headers-KERNEL nvidia-driver-550-open',
    bookworm: 'linux-headers-KERNEL nvidia-open-550',
    alma9: 'kernel-devel-KERNEL @nvidia-driver:550-open',
  })
  expect(of('open590', 'nvidia_driver_all_packages')).toMatchObject({
    jammy: 'linux-headers-KERNEL nvidia-driver-pinning-590 nvidia-open cuda-toolkit-13-1',
    bookworm: 'linux-headers-KERNEL nvidia-driver-pinning-590 nvidia-open cuda-toolkit-13-1',
    alma9: 'kernel-devel-KERNEL @nvidia-driver:590-open cuda-toolkit-13-1',
    rhel10: 'kernel-devel-KERNEL nvidia-open cuda-toolkit-13-1',
  })
  expect(of('nvidia', 'nvidia_driver_fabricmanager')).toMatchObject({
    jammy: 'nvidia-fabricmanager-535',
    bookworm: 'nvidia-fabricmanager-535',
    alma9: 'nvidia-fabric-manager',
  })
  expect(of('open590', 'nvidia_driver_fabricmanager')).toMatchObject({
    jammy: 'nvidia-fabricmanager',
    alma9: 'nvidia-fabricmanager',
  })
  expect(of('nvidia', 'nvidia_driver_version_package')).toEqual({
    jammy: 'nvidia-driver-535',
    'noble-arm': 'nvidia-driver-535',
    bookworm: 'cuda-drivers-535',
    rhel8: 'nvidia-driver',
    'rocky9-arm': 'nvidia-driver',
    alma9: 'nvidia-driver',
    rhel10: 'cuda-drivers',
  })
  expect(of('open590', 'nvidia_driver_version_package')).toMatchObject({ bookworm: 'nvidia-open', alma9: 'nvidia-driver' })
  expect(of('nvidia', 'nvidia_driver_exact')).toMatchObject({ jammy: '535.154.05', rhel8: '535.154.05' })
  const base = 'https://developer.download.nvidia.com/compute/cuda/repos'
  expect(of('nvidia', 'nvidia_driver_repository')).toEqual({
    jammy: `${base}/ubuntu2204/x86_64`,
    'noble-arm': `${base}/ubuntu2404/sbsa`,
    bookworm: `${base}/debian12/x86_64`,
    rhel8: `${base}/rhel8/x86_64`,
    'rocky9-arm': `${base}/rhel9/sbsa`,
    alma9: `${base}/rhel9/x86_64`,
    rhel10: `${base}/rhel10/x86_64`,
  })
  expect(of('nvidia', 'common_nvidia_key')).toMatchObject({
    jammy: 'cuda-archive-keyring.gpg',
    rhel8: 'D42D0685.pub',
    rhel10: 'CDF6BA43.pub',
  })
})

test("NVIDIA: enables Debian's contrib component unless it is enabled", () => {
  expect(of('contrib', 'nvidia_driver_without_contrib').bookworm).toBe('/etc/apt/sources.list.d/debian.sources')
  expect(of('enabled', 'nvidia_driver_without_contrib').bookworm).toBe('')
})

test('AMD: uses two repositories; Debian uses the Ubuntu suite of its age', () => {
  const base = 'https://repo.radeon.com'
  const apt = (suite: string) => [`${base}/amdgpu/6.4.3/ubuntu ${suite} main`, `${base}/rocm/apt/6.4.3 ${suite} main`]
  expect(urls('amd', 'amd_driver_repositories', 'jammy')).toEqual(apt('jammy'))
  expect(urls('amd', 'amd_driver_repositories', 'bookworm')).toEqual(apt('jammy'))
  expect(urls('amd', 'amd_driver_repositories', 'alma9')).toEqual([
    `${base}/amdgpu/6.4.3/el/9.6/main/x86_64`,
    `${base}/rocm/el9/6.4.3/main`,
  ])
  expect(of('amd', 'amd_driver_packages')).toMatchObject({
    jammy: 'linux-headers-KERNEL amdgpu-dkms amd-smi-lib rocm',
    rhel8: 'kernel-devel-KERNEL amdgpu-dkms amd-smi-lib rocm',
  })
})

test('Intel: selects the release line of the GPU driver and the oneAPI version', () => {
  const base = 'https://repositories.intel.com/gpu'
  expect(urls('intel', 'intel_driver_repositories', 'jammy')).toEqual([
    `${base}/ubuntu jammy/lts/2350 unified`,
    'https://apt.repos.intel.com/oneapi all main',
  ])
  expect(urls('intel', 'intel_driver_repositories', 'alma9').map((url) => url.split(' ')[0])).toEqual([
    `${base}/rhel/9.6/lts/2350/unified`,
    'https://yum.repos.intel.com/oneapi',
  ])
  expect(of('intel', 'intel_driver_packages').jammy).toBe(
    'linux-headers-KERNEL intel-i915-dkms intel-level-zero-gpu xpu-smi intel-opencl-icd intel-oneapi-base-toolkit-2025.2',
  )
})

test('Ascend: names the files of both architectures and the build packages', () => {
  const files = (system: keyof typeof systems) =>
    (answers.ascend[system].ascend_driver_parts! as { url: string; file: string }[]).map(({ url, file }) => `${url}/${file}`)
  const base = 'https://ascend-repo.obs.cn-east-2.myhuaweicloud.com'
  expect(files('noble-arm')).toEqual([
    `${base}/Milan-ASL/Milan-ASL%20V100R001C17SPC702/Ascend-hdk-910b-npu-driver_24.1.rc1_linux-aarch64.run`,
    `${base}/Milan-ASL/Milan-ASL%20V100R001C17SPC702/Ascend-hdk-910b-npu-firmware_7.1.0.6.220.run`,
    `${base}/CANN/CANN%208.0.RC1/Ascend-cann-toolkit_8.0.RC1_linux-aarch64.run`,
    `${base}/CANN/CANN%208.0.RC1/Ascend-cann-kernels-910b_8.0.RC1_linux.run`,
  ])
  expect(files('alma9')[0]).toMatch(/_linux-x86_64\.run$/)
  expect(of('ascend', 'ascend_driver_build_packages')).toMatchObject({
    jammy: 'make gcc dkms linux-headers-KERNEL',
    alma9: 'make gcc dkms kernel-devel-KERNEL',
  })
})

test("node_exporter: uses the distribution's package, or a third-party one on RHEL", () => {
  expect(of('node', 'node_exporter_package')).toMatchObject({ jammy: 'prometheus-node-exporter', rhel8: 'node_exporter' })
  expect(of('node', 'node_exporter_url')).toMatchObject({
    jammy: '',
    alma9: 'https://packagecloud.io/prometheus-rpm/release/el/$releasever/$basearch',
  })
})
