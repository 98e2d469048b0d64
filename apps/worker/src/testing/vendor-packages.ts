import { release } from 'node:os'
import type { StubPackage } from '@muster/lab'

// Stubs of the vendors' packages: names, dependencies, tools and services, without their contents.

const program = (path: string, body: string) => ({ path, content: `#!/bin/sh\n${body}\n`, mode: 0o755 })
const unit = (name: string, command: string) => ({
  path: `/lib/systemd/system/${name}.service`,
  content: `[Unit]\nDescription=${name}\n[Service]\nExecStart=${command}\n[Install]\nWantedBy=multi-user.target\n`,
})

export const kernelHeaders: StubPackage = { name: `linux-headers-${release()}`, version: '1' }

/** The first driver works immediately; another version only after a reboot, because the old kernel module stays loaded. */
const nvidiaSmi = (version: string) => `[ -s /run/nvidia-loaded ] || echo ${version} > /run/nvidia-loaded
read -r loaded < /run/nvidia-loaded
if [ "$loaded" != ${version} ]; then
  echo 'Failed to initialize NVML: Driver/library version mismatch'
  exit 18
fi
for gpu in 0 1 2 3 4 5 6 7; do
  case "$1" in -L) echo "GPU $gpu: NVIDIA H100 80GB HBM3 (UUID: GPU-$gpu)" ;; *) echo ${version} ;; esac
done`

/** Like NVIDIA's, it exits when its version differs from the driver's. */
const fabricManager = (branch: number, version: string): StubPackage => ({
  name: `nvidia-fabricmanager-${branch}`,
  version: `${version}-1`,
  fields: { Provides: 'nvidia-fabricmanager', Conflicts: 'nvidia-fabricmanager', Replaces: 'nvidia-fabricmanager' },
  files: [
    program('/usr/bin/nv-fabricmanager', `nvidia-smi | grep -qx ${version} || exit 1\nexec sleep 2147483647`),
    unit('nvidia-fabricmanager', '/usr/bin/nv-fabricmanager'),
  ],
})

const contribDependency: StubPackage = { name: 'nvidia-support', version: '20220217+3' }
/** Packages of Debian's contrib component. */
export const debianContribPackages = [contribDependency]
/** Packages of Debian's main component that the installation guides of the drivers require. */
export const debianPackages: StubPackage[] = [kernelHeaders, ...['make', 'gcc', 'dkms'].map((name) => ({ name, version: '0.1' }))]

const nvidiaBranch = (branch: number, version: string): StubPackage[] => [
  {
    name: `nvidia-utils-${branch}`,
    version,
    fields: { Provides: 'nvidia-utils', Conflicts: 'nvidia-utils', Replaces: 'nvidia-utils' },
    files: [program('/usr/bin/nvidia-smi', nvidiaSmi(version))],
  },
  {
    name: `nvidia-driver-${branch}`,
    version,
    fields: {
      Depends: `nvidia-utils-${branch} (= ${version}), ${kernelHeaders.name}`,
      Provides: 'nvidia-driver-binary',
      Conflicts: 'nvidia-driver-binary',
      Replaces: 'nvidia-driver-binary',
    },
  },
  { name: `nvidia-driver-${branch}-open`, version, fields: { Depends: `nvidia-driver-${branch}` } },
  // The meta-package for Debian. Like NVIDIA's, it depends on a package of Debian's contrib component.
  { name: `cuda-drivers-${branch}`, version, fields: { Depends: `nvidia-driver-${branch}, ${contribDependency.name}` } },
  fabricManager(branch, version),
]

const metrics = `#!/usr/bin/env python3
import http.server, os
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'DCGM_FI_DEV_GPU_TEMP{gpu="0"} 41\\n')
address, port = os.environ.get("DCGM_EXPORTER_LISTEN", ":9400").rsplit(":", 1)
http.server.HTTPServer((address, int(port)), Handler).serve_forever()
`

export const nvidiaPackages: StubPackage[] = [
  kernelHeaders,
  ...nvidiaBranch(535, '535.154.05'),
  ...nvidiaBranch(550, '550.54.15'),
  // Newer than the driver of this branch.
  fabricManager(535, '535.183.06'),
  { name: 'cuda-toolkit-12', version: '12.9.1-1', files: [{ path: '/usr/local/cuda/version.json', content: '{}\n' }] },
  {
    name: 'cuda-toolkit-12-9',
    version: '12.9.1-1',
    scripts: { postinst: 'echo "No space left for the toolkit" >&2; exit 1' },
  },
  { name: 'datacenter-gpu-manager-4-cuda12', version: '1:4.4.1-1', files: [unit('nvidia-dcgm', '/bin/sleep 2147483647')] },
  {
    name: 'datacenter-gpu-manager-exporter',
    version: '4.6.0-1',
    fields: { Depends: 'datacenter-gpu-manager-4-cuda12' },
    files: [
      { path: '/usr/bin/dcgm-exporter', content: metrics, mode: 0o755 },
      unit('nvidia-dcgm-exporter', '/usr/bin/dcgm-exporter -f /etc/dcgm-exporter/default-counters.csv'),
    ],
  },
]

/** The kernel's own amdgpu module is loaded at installation, so the first installation needs a reboot. */
const bootOfInstallation = '/var/lib/amdgpu-installed'
export const amdPackages: StubPackage[] = [
  kernelHeaders,
  {
    name: 'amdgpu-dkms',
    version: '1:6.12.12',
    fields: { Depends: kernelHeaders.name },
    scripts: { postinst: `cat /proc/sys/kernel/random/boot_id > ${bootOfInstallation}` },
  },
  {
    name: 'amd-smi-lib',
    version: '25.5.1',
    files: [
      program(
        '/opt/rocm/bin/amd-smi',
        `if cmp -s ${bootOfInstallation} /proc/sys/kernel/random/boot_id; then
  echo 'ERROR:root:Unable to load amdgpu version' >&2
  exit 1
fi
echo 'GPU: 0'`,
      ),
    ],
  },
  { name: 'rocm', version: '6.4.3', fields: { Depends: 'amd-smi-lib' } },
]

export const intelPackages: StubPackage[] = [
  kernelHeaders,
  { name: 'intel-i915-dkms', version: '1.24.2', fields: { Depends: kernelHeaders.name } },
  { name: 'intel-level-zero-gpu', version: '1.3.29735' },
  { name: 'intel-opencl-icd', version: '23.43.27642' },
  {
    name: 'xpu-smi',
    version: '1.2.42',
    files: [program('/usr/bin/xpu-smi', `echo '| 0         | Device Name: Intel(R) Data Center GPU Max 1550 |'`)],
  },
]
export const oneapiPackages: StubPackage[] = [{ name: 'intel-oneapi-base-toolkit', version: '2025.2.0-592' }]

/** Huawei's self-extracting packages, as shell scripts without an archive. The driver needs the build packages, as Huawei's does. */
export function ascendFiles(arch: string, hdk = '24.1.rc1', firmware = '7.1.0.6.220', cann = '8.0.RC1'): Record<string, string> {
  const home = '/usr/local/Ascend'
  const put = (file: string, text: string) => `mkdir -p ${path(file)}\nprintf '%s\\n' '${text}' > ${home}/${file}`
  const path = (file: string) => `${home}/${file.slice(0, file.lastIndexOf('/'))}`
  const tool = `#!/bin/sh\necho "| npu-smi ${hdk}                Version: ${hdk} |"`
  const script = (order: string, body: string) =>
    `#!/bin/bash\nset -e\n${order}\n${body}\necho "$0 $*" >> /var/log/ascend-order\n`
  const isThere = (file: string) =>
    `[ -s ${home}/${file} ] || { echo "ERR_NO:0x0080; please install the driver first" >&2; exit 1; }`
  return {
    [`Ascend-hdk-910b-npu-driver_${hdk}_linux-${arch}.run`]: script(
      `id HwHiAiUser\nfor package in make gcc dkms ${kernelHeaders.name}; do dpkg-query -W "$package" >/dev/null; done`,
      `${put('driver/version.info', `Version=${hdk}`)}\nmkdir -p /usr/local/sbin\ncat > /usr/local/sbin/npu-smi <<'EOF'\n${tool}\nEOF\nchmod 755 /usr/local/sbin/npu-smi`,
    ),
    [`Ascend-hdk-910b-npu-firmware_${firmware}.run`]: script(
      isThere('driver/version.info'),
      put('firmware/version.info', `Version=${firmware}`),
    ),
    [`Ascend-cann-toolkit_${cann}_linux-${arch}.run`]: script(
      isThere('firmware/version.info'),
      put(`ascend-toolkit/latest/${arch}-linux/ascend_toolkit_install.info`, `version=${cann}`),
    ),
    [`Ascend-cann-kernels-910b_${cann}_linux.run`]: script(
      isThere(`ascend-toolkit/latest/${arch}-linux/ascend_toolkit_install.info`),
      put('ascend-toolkit/latest/opp_kernel/version.info', `Version=${cann}`),
    ),
  }
}
