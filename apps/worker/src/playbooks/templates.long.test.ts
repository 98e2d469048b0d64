import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createPlaybookRunner } from '../testing/playbook-runner.ts'
import { canInstall, changes, createTemplateFixture, debOfNodeExporter, succeeded } from '../testing/template-fixture.ts'
import { ascendFiles } from '../testing/vendor-packages.ts'

const onlyX64 = process.arch === 'x64'

describe.runIf(canInstall)('all installing templates', { timeout: 600_000 }, () => {
  let fixture: Awaited<ReturnType<typeof createTemplateFixture>>
  beforeAll(async () => {
    fixture = await createTemplateFixture([
      'h100',
      'h100-ubuntu',
      'h100-offline',
      'mi300',
      'max',
      'max-ubuntu',
      'npu',
      'npu-offline',
      'cpu',
    ])
  })
  const nvidia = (more: object = {}) => ({ nvidia_driver_repository_url: `${fixture.repository.url}/nvidia`, ...more })
  afterAll(async () => void (await fixture?.close()))

  test('NVIDIA: a new branch reports a required reboot, and works after an allowed one', async () => {
    const { play, on, lab } = fixture
    const node = 'h100-ubuntu'
    const closed = await play('install_nvidia_driver', [node], nvidia({ install_cuda: false }))
    expect(succeeded(closed)).toEqual({ [node]: 6 })
    expect(await on(node, 'dpkg-query -W nvidia-driver-535 nvidia-fabricmanager-535 | cut -f1')).toBe(
      'nvidia-driver-535\nnvidia-fabricmanager-535',
    )
    const boot = await lab.node(node).bootId()

    const newer = nvidia({ nvidia_driver_version: '550', nvidia_driver_module: 'open', install_cuda: false })
    const waits = await play('install_nvidia_driver', [node], newer)
    expect(succeeded(waits)).toEqual({ [node]: 3 })
    expect(waits.output).toContain('works only after a reboot, and this run may not reboot nodes')
    expect(await on(node, 'nvidia-smi || echo $?')).toMatch(/version mismatch\n18$/)
    const still = await play('install_nvidia_driver', [node], newer)
    expect(succeeded(still)).toEqual({ [node]: 0 })
    expect(still.output).toContain('works only after a reboot, and')
    expect(await lab.node(node).bootId()).toBe(boot)

    const allowed = await play('install_nvidia_driver', [node], { ...newer, reboot_allowed: true })
    expect(succeeded(allowed)).toEqual({ [node]: 1 })
    expect(await lab.node(node).bootId()).not.toBe(boot)
    expect(
      await on(node, 'nvidia-smi | head -1; systemctl is-active nvidia-fabricmanager; ls /run | grep -c muster || true'),
    ).toBe('550.54.15\nactive\n0')
    expect(succeeded(await play('install_nvidia_driver', [node], { ...newer, reboot_allowed: true }))).toEqual({ [node]: 0 })
  })

  test('NVIDIA: reports a failing package, a broken driver, invalid inputs and an unreachable repository', async () => {
    const { play, on } = fixture
    const failing = await play('install_nvidia_driver', ['h100'], nvidia({ cuda_version: '12.9' }))
    expect(changes(failing)).toEqual({ h100: 'failed' })
    expect(failing.output).toMatch(/h100: .*cuda-toolkit-12-9 could not be installed from http:.*No space left for the toolkit/)
    await on('h100', 'apt-get -y purge cuda-toolkit-12-9')
    expect(succeeded(await play('install_nvidia_driver', ['h100'], nvidia()))).toEqual({ h100: 3 })
    await on('h100', 'echo 1.2.3 > /run/nvidia-loaded')
    const broken = await play('install_nvidia_driver', ['h100'], nvidia())
    expect(changes(broken)).toEqual({ h100: 'failed' })
    expect(broken.output).toMatch(
      /does not match .*version mismatch.*Run the template again with reboot_allowed, or reboot the node/,
    )
    await on('h100', 'rm /run/nvidia-loaded')
    const wrong = await play('install_nvidia_driver', ['h100'], nvidia({ nvidia_driver_version: 'latest' }))
    expect(wrong.output).toContain('nvidia_driver_version must be a branch such as 535 (it is latest)')
    const unknown = await play('install_nvidia_driver', ['h100'], nvidia({ nvidia_driver_version: '540' }))
    expect(changes(unknown)).toEqual({ h100: 'failed' })
    expect(unknown.output).toContain('There is no package cuda-drivers-540. There are: cuda-drivers-535, cuda-drivers-550.')
    const unreachable = await play('install_nvidia_driver', ['h100'], {
      nvidia_driver_repository_url: `${fixture.repository.url}/nothing`,
    })
    expect(unreachable.output).toMatch(/could not be installed from http:.*\/nothing\/debian12\/\S+: Request failed.*404/)
  })

  test('NVIDIA: installs from files beside the playbooks and from a folder of the node', async () => {
    const { play, on, lab, repository, state } = fixture
    const home = mkdtempSync('/tmp/muster-playbooks-')
    onTestFinished(() => rmSync(home, { recursive: true, force: true }))
    cpSync(path.resolve(import.meta.dirname, '../../../../playbooks'), home, { recursive: true })
    const wanted = /^(linux-headers|nvidia-(utils|driver)-535_|nvidia-fabricmanager-535_535.154|cuda-toolkit-12_)/
    const pool = path.join(repository.folder, 'nvidia/debian12', onlyX64 ? 'x86_64' : 'sbsa', 'pool')
    mkdirSync(path.join(home, 'files/nvidia'), { recursive: true })
    cpSync(pool, path.join(home, 'files/nvidia'), {
      recursive: true,
      filter: (file) => file === pool || wanted.test(path.basename(file)),
    })
    symlinkSync('/etc', path.join(home, 'files/outside'))
    const elsewhere = createPlaybookRunner(lab, home)
    onTestFinished(() => elsewhere.remove())
    const node = 'h100-offline'

    const before = await state(node)
    const checked = await elsewhere.play('install_nvidia_driver', [node], { nvidia_driver_offline_dir: 'nvidia' }, ['--check'])
    expect(succeeded(checked)[node]).toBeGreaterThan(0)
    expect(await state(node)).toBe(before)
    const asked = repository.requests.length
    const first = await elsewhere.play('install_nvidia_driver', [node], { nvidia_driver_offline_dir: 'nvidia' })
    expect(succeeded(first)[node]).toBeGreaterThan(0)
    expect(await on(node, 'nvidia-smi | head -1')).toBe('535.154.05')
    expect(succeeded(await elsewhere.play('install_nvidia_driver', [node], { nvidia_driver_offline_dir: 'nvidia' }))).toEqual({
      [node]: 0,
    })
    await on(node, 'mkdir -p /srv && mv /var/cache/muster /srv/packages')
    expect(succeeded(await play('install_nvidia_driver', [node], { nvidia_driver_offline_dir: '/srv/packages' }))).toEqual({
      [node]: 0,
    })
    expect(repository.requests.slice(asked).filter(({ path: asked }) => asked.includes('nvidia/debian12'))).toEqual([])

    for (const dir of ['../roles', 'outside/apt', 'nvidia/../../..']) {
      const rejected = await elsewhere.play('install_nvidia_driver', [node], { nvidia_driver_offline_dir: dir })
      expect([dir, changes(rejected)]).toEqual([dir, { [node]: 'failed' }])
      expect(rejected.output).toMatch(/is outside of .*\/files, the only folder that files may be copied from/)
    }
    const empty = await play('install_nvidia_driver', [node], { nvidia_driver_offline_dir: '/srv/none' })
    expect(empty.output).toMatch(/There is no \*_all\.deb and no \*_\w+\.deb in \/srv\/none on the node\./)
  })

  test.runIf(onlyX64)('AMD: prefers its repositories to the distribution and reboots after the first installation', async () => {
    const { play, on, repository, lab } = fixture
    const vars = { amd_driver_repository_url: `${repository.url}/amd`, reboot_allowed: true }
    const boot = await lab.node('mi300').bootId()
    const first = await play('install_amd_driver', ['mi300', 'h100'], vars)
    expect(changes(first)).toEqual({ mi300: 5, h100: 'failed' })
    expect(first.output).toContain('h100 has no AMD GPU on PCI. Accelerators found: NVIDIA 10de:2330.')
    expect(await lab.node('mi300').bootId()).not.toBe(boot)
    expect(await on('mi300', '/opt/rocm/bin/amd-smi list; cat /etc/apt/preferences.d/muster-rocm')).toBe(
      `GPU: 0\nPackage: *\nPin: origin "${lab.hostAddress}"\nPin-Priority: 600`,
    )
    expect(succeeded(await play('install_amd_driver', ['mi300'], vars))).toEqual({ mi300: 0 })
  })

  test.runIf(onlyX64)('Intel: installs the GPU driver and oneAPI, and rejects Debian', async () => {
    const { play, on, repository } = fixture
    const vars = {
      intel_driver_repository_url: `${repository.url}/intel`,
      intel_driver_oneapi_url: `${repository.url}/oneapi`,
      intel_driver_oneapi_key: `${repository.url}/intel/gpu/intel-graphics.key`,
    }
    expect(succeeded(await play('install_intel_driver', ['max-ubuntu'], vars))).toEqual({ 'max-ubuntu': 4 })
    expect(await on('max-ubuntu', 'dpkg-query -W xpu-smi intel-i915-dkms intel-oneapi-base-toolkit | cut -f1')).toBe(
      'intel-i915-dkms\nintel-oneapi-base-toolkit\nxpu-smi',
    )
    expect(succeeded(await play('install_intel_driver', ['max-ubuntu'], vars))).toEqual({ 'max-ubuntu': 0 })
    const rejected = await play('install_intel_driver', ['max', 'cpu'], vars)
    expect(changes(rejected)).toEqual({ max: 'failed', cpu: 'failed' })
    expect(rejected.output).toMatch(/max runs Debian, but Intel packages its GPU driver for/)
    expect(rejected.output).toMatch(/cpu has no .* on PCI/)
  })

  test('Ascend: installs the driver, the firmware and CANN in this order, and upgrades the firmware first', async () => {
    const { play, on, repository, state } = fixture
    const checksums = (files: Record<string, string>) =>
      Object.entries(files).map(([file, content]) => `${createHash('sha256').update(content).digest('hex')}  ${file}`)
    const arch = onlyX64 ? 'x86_64' : 'aarch64'
    const vars = {
      ascend_driver_repository_url: `${repository.url}/ascend`,
      ascend_driver_checksums: checksums(ascendFiles(arch)),
    }
    const log = () => on('npu', "sed -E 's#.*/##; s/_linux-[a-z0-9_]+//' /var/log/ascend-order")
    const before = await state('npu')
    expect(succeeded(await play('install_ascend_driver', ['npu'], vars, ['--check'])).npu).toBeGreaterThan(0)
    expect(await state('npu')).toBe(before)

    const unverified = await play('install_ascend_driver', ['npu'], { ...vars, ascend_driver_checksums: [] })
    expect(changes(unverified)).toEqual({ npu: 'failed' })
    expect(unverified.output).toMatch(
      /ascend_driver_checksums has no SHA-256 of Ascend-hdk-910b-npu-driver_24\.1\.rc1_linux-\w+\.run, /,
    )
    const altered = vars.ascend_driver_checksums.map((line) => line.replace(/^./, (digit) => (digit === '0' ? '1' : '0')))
    const rejected = await play('install_ascend_driver', ['npu'], { ...vars, ascend_driver_checksums: altered })
    expect(changes(rejected)).toEqual({ npu: 'failed' })
    expect(rejected.output).toMatch(/Download Ascend-hdk-910b-npu-driver[\s\S]*The checksum for \S+ did not match/)
    expect(await on('npu', 'ls /usr/local/Ascend /var/log/ascend-order 2>/dev/null || true')).toBe('')

    const first = await play('install_ascend_driver', ['npu', 'cpu'], vars)
    expect(changes(first)).toMatchObject({ cpu: 'failed' })
    expect(first.output).toMatch(/cpu has no .* on PCI/)
    expect(first.recap.npu!.failed).toBe(0)
    const installed = [
      'Ascend-hdk-910b-npu-driver_24.1.rc1.run --full --install-for-all --quiet',
      'Ascend-hdk-910b-npu-firmware_7.1.0.6.220.run --full --quiet',
      'Ascend-cann-toolkit_8.0.RC1.run --install --install-for-all --quiet',
      'Ascend-cann-kernels-910b_8.0.RC1_linux.run --install --install-for-all --quiet',
    ]
    expect(await log()).toBe(installed.join('\n'))
    expect(await on('npu', 'dpkg-query -W dkms make gcc | cut -f1; ls /var/cache/muster')).toBe('dkms\ngcc\nmake')
    expect(succeeded(await play('install_ascend_driver', ['npu'], vars))).toEqual({ npu: 0 })
    const missing = await play('install_ascend_driver', ['npu'], {
      ...vars,
      cann_version: '9.9',
      ascend_driver_checksums: checksums(ascendFiles(arch, '24.1.rc1', '7.1.0.6.220', '9.9')),
    })
    expect(missing.output).toMatch(/Ascend-cann-toolkit_9\.9_linux-\w+\.run/)
    expect(changes(missing)).toEqual({ npu: 'failed' })

    const newer = ascendFiles(arch, '24.1.rc2', '7.3.0.1.231')
    for (const [file, content] of Object.entries(newer)) writeFileSync(path.join(repository.folder, 'ascend', file), content)
    const upgrade = { ...vars, ascend_driver_version: '24.1.rc2', ascend_driver_firmware_version: '7.3.0.1.231' }
    succeeded(await play('install_ascend_driver', ['npu'], { ...upgrade, ascend_driver_checksums: checksums(newer) }))
    expect((await log()).split('\n').slice(installed.length)).toEqual([
      'Ascend-hdk-910b-npu-firmware_7.3.0.1.231.run --upgrade --quiet',
      'Ascend-hdk-910b-npu-driver_24.1.rc2.run --upgrade --quiet',
    ])
  })

  test('Ascend: installs from a folder of the node, where checksums are optional', async () => {
    const { play, on, lab, repository } = fixture
    const node = 'npu-offline'
    const vars = { ascend_driver_offline_dir: '/srv/ascend' }
    await on(node, 'mkdir -p /srv/ascend')
    const put = (file: string, content: Buffer) =>
      lab.node(node).exec(['sh', '-c', `cat > /srv/ascend/${file}`], { input: content.toString('latin1') })
    for (const file of readdirSync(path.join(repository.folder, 'ascend')))
      await put(file, readFileSync(path.join(repository.folder, 'ascend', file)))
    const incomplete = await play('install_ascend_driver', [node], vars)
    expect(changes(incomplete)).toEqual({ [node]: 'failed' })
    expect(incomplete.output).toMatch(/make, gcc, dkms, linux-headers-\S+ could not be installed from \/srv\/ascend/)
    const mirror = `${repository.url}/debian/pool`
    const debs = readdirSync(path.join(repository.folder, 'debian/pool')).filter((file) => /^(linux-headers|dkms)/.test(file))
    for (const deb of debs)
      await on(node, `cd /srv/ascend && python3 -c "import urllib.request as r; r.urlretrieve('${mirror}/${deb}', '${deb}')"`)
    const wrong = { ...vars, ascend_driver_checksums: [`${'0'.repeat(64)}  Ascend-hdk-910b-npu-firmware_7.1.0.6.220.run`] }
    const rejected = await play('install_ascend_driver', [node], wrong)
    expect(rejected.output).toMatch(
      /npu-firmware_7\.1\.0\.6\.220\.run has the SHA-256 [0-9a-f]{64}, but ascend_driver_checksums says 0{64}/,
    )
    succeeded(await play('install_ascend_driver', [node], vars))
    expect(await on(node, 'npu-smi info')).toContain('24.1.rc1')
    expect(succeeded(await play('install_ascend_driver', [node], vars))).toEqual({ [node]: 0 })
  })

  test('DCGM exporter: requires a driver, changes its port, and moves to docker', async () => {
    const { play, on, lab, repository } = fixture
    const vars = { dcgm_exporter_repository_url: `${repository.url}/nvidia` }
    await on('h100', 'dpkg -P --force-all nvidia-utils-535 nvidia-utils-550 2>/dev/null; true')
    const early = await play('deploy_dcgm_exporter', ['h100'], vars)
    expect(early.output).toContain('h100 has NVIDIA GPUs, but no working driver')
    expect(early.output).toContain('Run install_nvidia_driver on this node first.')
    const node = 'h100-offline'
    succeeded(await play('install_nvidia_driver', [node], nvidia()))
    expect(succeeded(await play('deploy_dcgm_exporter', [node], vars))[node]).toBeGreaterThan(0)
    const read = (port: number) => fetch(`http://${lab.node(node).host}:${port}/metrics`).then((answer) => answer.text())
    expect(await read(9400)).toContain('DCGM_FI_DEV_GPU_TEMP')
    expect(succeeded(await play('deploy_dcgm_exporter', [node], vars))).toEqual({ [node]: 0 })
    expect(succeeded(await play('deploy_dcgm_exporter', [node], { ...vars, dcgm_exporter_port: 9500 }))).toEqual({ [node]: 2 })
    expect(await read(9500)).toContain('DCGM_FI_DEV_GPU_TEMP')
    const inDocker = { ...vars, deploy_mode: 'docker', dcgm_exporter_port: 9500 }
    const rejected = await play('deploy_dcgm_exporter', [node], inDocker)
    expect(rejected.output).toContain('docker is not running or has no runtime for NVIDIA GPUs')
    expect(await read(9500)).toContain('DCGM_FI_DEV_GPU_TEMP')
    // A fake docker that runs the packaged exporter.
    const docker = `#!/bin/sh
case "$1" in
  info) echo '{"nvidia":{"path":"nvidia-container-runtime"}}' ;;
  run) for word; do case $word in --publish=*) port=\${word#*=}; esac; done
    DCGM_EXPORTER_LISTEN=":\${port%:*}" exec /usr/bin/dcgm-exporter ;;
esac`
    await lab.node(node).exec(['sh', '-c', 'cat > /usr/bin/docker; chmod 755 /usr/bin/docker'], { input: docker })
    expect(succeeded(await play('deploy_dcgm_exporter', [node], inDocker))).toEqual({ [node]: 3 })
    expect(await on(node, 'systemctl is-active dcgm-exporter nvidia-dcgm-exporter || true')).toBe('active\ninactive')
    expect(await read(9500)).toContain('DCGM_FI_DEV_GPU_TEMP')
    expect(succeeded(await play('deploy_dcgm_exporter', [node], inDocker))).toEqual({ [node]: 0 })
  })

  test.skipIf(!debOfNodeExporter)('node_exporter: changes its port and starts after a reboot', async () => {
    const { play, lab, repository } = fixture
    const vars = { node_exporter_repository_url: `${repository.url}/node` }
    succeeded(await play('deploy_node_exporter', ['cpu'], vars))
    const moved = await play('deploy_node_exporter', ['cpu'], { ...vars, node_exporter_port: 9200 }, ['--diff'])
    expect(succeeded(moved)).toEqual({ cpu: 2 })
    expect(moved.output).toMatch(/^-.*:9100\n\+.*:9200$/m)
    await lab.fault('cpu', 'reboot')
    await lab.ready('cpu')
    const metrics = () => fetch(`http://${lab.node('cpu').host}:9200/metrics`).then((answer) => answer.text(), String)
    await expect.poll(metrics, { timeout: 30_000 }).toContain('node_uname_info{')
  })
})
