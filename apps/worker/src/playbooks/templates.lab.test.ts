import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canInstall, changes, createTemplateFixture, debOfNodeExporter, succeeded } from '../testing/template-fixture.ts'

// One template of each kind; templates.long.test.ts has the complete matrix.
describe.runIf(canInstall)('installing templates', () => {
  let fixture: Awaited<ReturnType<typeof createTemplateFixture>>
  beforeAll(async () => {
    fixture = await createTemplateFixture(['h100', 'mi300', 'cpu'])
  })
  afterAll(async () => void (await fixture?.close()))

  test('NVIDIA: checks without changes, rejects other hardware, installs, and changes nothing in a second run', {
    timeout: 300_000,
  }, async () => {
    const { play, on, state, repository } = fixture
    const mirror = { nvidia_driver_repository_url: `${repository.url}/nvidia` }
    const before = await state('h100')
    const checked = await play('install_nvidia_driver', ['h100', 'mi300', 'cpu'], mirror, ['--check', '--diff'])
    expect(await state('h100')).toBe(before)
    expect(changes(checked)).toEqual({ h100: 5, mi300: 'failed', cpu: 'failed' })
    expect(checked.output).toContain(`+URIs: ${repository.url}/nvidia/debian12/`)
    expect(checked.output).toMatch(/Would install linux-headers-.*, cuda-drivers-535, cuda-toolkit-12"/)
    expect(checked.output).toContain("Would install nvidia-fabricmanager-535 in the driver's version")
    expect(checked.output).toContain(
      'mi300 has no NVIDIA GPU on PCI. Accelerators found: AMD 1002:74a1. Remove the node from this run',
    )
    expect(checked.output).toContain('cpu has no NVIDIA GPU on PCI. Accelerators found: none.')

    const first = await play('install_nvidia_driver', ['h100'], mirror)
    expect(succeeded(first)).toEqual({ h100: 7 })
    // contrib was not enabled, and the repository has a newer fabric manager than driver.
    expect(await on('h100', 'dpkg-query -W nvidia-driver-535 cuda-toolkit-12 nvidia-support nvidia-fabricmanager-535')).toBe(
      'cuda-toolkit-12\t12.9.1-1\nnvidia-driver-535\t535.154.05\nnvidia-fabricmanager-535\t535.154.05-1\nnvidia-support\t20220217+3',
    )
    expect(await on('h100', 'grep Components /etc/apt/sources.list.d/debian.sources')).toBe('Components: main contrib')
    expect(await on('h100', 'systemctl is-active nvidia-fabricmanager')).toBe('active')
    expect(succeeded(await play('install_nvidia_driver', ['h100'], mirror))).toEqual({ h100: 0 })
  })

  test.skipIf(!debOfNodeExporter)("installs the distribution's node_exporter", { timeout: 300_000 }, async () => {
    const { play, on, repository, lab } = fixture
    const vars = { node_exporter_repository_url: `${repository.url}/node`, node_exporter_port: 9123 }
    const first = await play('deploy_node_exporter', ['cpu'], vars)
    expect(succeeded(first)).toEqual({ cpu: 7 })
    const metrics = await fetch(`http://${lab.node('cpu').host}:9123/metrics`).then((answer) => answer.text())
    expect(metrics).toContain('node_uname_info{')
    expect(await on('cpu', 'systemctl is-enabled prometheus-node-exporter')).toBe('enabled')
    expect(succeeded(await play('deploy_node_exporter', ['cpu'], vars))).toEqual({ cpu: 0 })
  })
})
