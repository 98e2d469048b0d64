import { expect, type Page } from '@playwright/test'
import { recordConnectionTests } from '../fixtures/connection-worker.ts'
import type { Installation } from '../fixtures/installation.ts'
import { nodeName } from '../fixtures/scenes/fleet.ts'
import type { Showcase } from '../fixtures/scenes/showcase.ts'
import { bmcDiscoveryUrl, clusterUrl, groupUrl, nodeUrl, powerRunUrl, runUrl, scheduleUrl } from '../fixtures/urls.ts'
import { t } from '../labels.ts'

type Scene = {
  page: Page
  installation: Installation
  showcase: Showcase
}

/** A page in one state. `scene` is the tenant with its data: read-only scenes are shared, `lab` has its own tenant. */
export type VisualPage = {
  name: string
  url: string | ((showcase: Showcase) => string)
  scene?: 'large' | 'empty' | 'lab' | 'signed-out'
  /** Text that is visible when the page is ready. */
  until: string | RegExp
  act?: (scene: Scene) => Promise<void>
  /** The API cannot be reached: the browser logs failed requests. */
  isCut?: boolean
}

const alertOf = (i: number) => new RegExp(`^${nodeName(i)} `)
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true })
const addLabNodes = async ({ page }: Scene) => {
  await button(page, t('lab.add', { count: 8 })).click()
}
/** Opens `name` of the navigation after the API was cut off. */
const openAfterCut =
  (name: string, role: 'link' | 'tab' = 'link') =>
  async ({ page, installation }: Scene) => {
    await expect(page.getByRole(role, { name }).first()).toBeVisible()
    installation.link.cut()
    const opener = page.getByRole(role, { name, exact: true }).first()
    await opener.click()
    // The previous page can also show that the API is unreachable.
    await expect(opener).toHaveAttribute(role === 'link' ? 'aria-current' : 'aria-selected', role === 'link' ? 'page' : 'true')
  }
const cut = { until: t('common.retry'), isCut: true }

export const pages: VisualPage[] = [
  { name: 'sign-in', url: '/sign-in', scene: 'signed-out', until: t('signIn.submit') },
  { name: 'account', url: '/settings/account', until: t('account.currentPassword') },

  { name: 'nodes', url: '/nodes', until: nodeName(0) },
  { name: 'nodes-filtered', url: '/nodes?status=READY&device=NVIDIA_GPU', until: nodeName(0) },
  {
    name: 'nodes-selected',
    url: '/nodes',
    until: t('nodes.selected', { count: 1 }),
    act: async ({ page }) => page.getByRole('checkbox', { name: t('nodes.select', { name: nodeName(1) }) }).click(),
  },
  ...(['maintenance', 'drain', 'decommission'] as const).map(
    (action): VisualPage => ({
      name: `nodes-${action}`,
      url: '/nodes',
      until: t('nodeState.runningJobs'),
      act: async ({ page }) => {
        for (const i of [5, 9, 10]) await page.getByRole('checkbox', { name: t('nodes.select', { name: nodeName(i) }) }).click()
        await page.getByRole('button', { name: t('node.more') }).click()
        const labels = {
          maintenance: t('nodes.maintenance'),
          drain: t('nodeState.action.drain'),
          decommission: t('node.decommission'),
        }
        await page.getByRole('menuitem', { name: labels[action], exact: true }).click()
      },
    }),
  ),
  { name: 'node-maintenance', url: ({ nodes }) => nodeUrl(nodes[9]!), until: /fan of the second power supply/ },
  { name: 'nodes-empty', url: '/nodes', scene: 'empty', until: t('nodes.emptyTitle') },
  { name: 'nodes-10000', url: '/nodes', scene: 'large', until: '10,000' },
  { name: 'nodes-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('nav.nodes')) },

  { name: 'add-single', url: '/nodes/add', scene: 'lab', until: t('lab.title', { count: 8 }) },
  {
    name: 'add-bulk',
    url: '/nodes/add?mode=bulk',
    until: t('importState.VALID'),
    act: async ({ page }) => page.getByLabel(t('import.text'), { exact: true }).fill('gpu1\n-oProxy\ngpu3'),
  },
  {
    name: 'add-preflight',
    url: '/nodes/add',
    scene: 'lab',
    until: t('preflight.retryFailed', { count: 1 }),
    act: async (scene) => {
      await addLabNodes(scene)
      await recordConnectionTests(scene.showcase, 8)
    },
  },
  {
    name: 'add-keys',
    url: '/nodes/add',
    scene: 'lab',
    until: t('hostKey.dialogTitle'),
    act: async (scene) => {
      await addLabNodes(scene)
      await recordConnectionTests(scene.showcase, 8)
      await button(scene.page, t('hostKey.review')).click()
    },
  },

  { name: 'node', url: ({ places }) => nodeUrl(places.healthy), until: t('node.hardware') },
  {
    name: 'node-edit',
    url: ({ places }) => nodeUrl(places.healthy),
    until: t('connectionTypeHint.SSH'),
    act: async ({ page }) => {
      await button(page, t('node.more')).filter({ visible: true }).click()
      await page.getByRole('menuitem', { name: t('node.edit') }).click()
    },
  },
  { name: 'node-alarm', url: ({ places }) => nodeUrl(places.alarmed), until: t('hostKey.changedTitle') },
  { name: 'node-long-name', url: ({ nodes }) => nodeUrl(nodes[2]!), until: t('node.hardware') },
  { name: 'node-accelerators', url: ({ places }) => `${nodeUrl(places.healthy)}?tab=accelerators`, until: /H100/ },
  { name: 'node-facts', url: ({ places }) => `${nodeUrl(places.healthy)}?tab=facts`, until: 'nics' },
  {
    name: 'node-discoveries',
    url: ({ places }) => `${nodeUrl(places.healthy)}?tab=discoveries`,
    until: t('discoveryReason.ONBOARDING'),
  },
  { name: 'node-runs', url: ({ places }) => `${nodeUrl(places.healthy)}?tab=runs`, until: t('runStatus.SUCCEEDED') },
  { name: 'node-agent', url: ({ places }) => `${nodeUrl(places.healthy)}?tab=agent`, until: t('trust.title') },
  { name: 'node-agent-changed', url: ({ places }) => `${nodeUrl(places.changed)}?tab=agent`, until: t('trust.approve') },
  { name: 'node-agent-none', url: ({ places }) => `${nodeUrl(places.withoutAgent)}?tab=agent`, until: t('agent.emptyTitle') },
  {
    name: 'enroll',
    url: ({ places }) => `${nodeUrl(places.withoutAgent)}?tab=agent`,
    until: t('enroll.madeTitle'),
    act: async ({ page }) => {
      await button(page, t('enroll.openNode')).click()
      await button(page, t('enroll.make')).click()
    },
  },
  { name: 'node-missing', url: ({ tenant }) => nodeUrl(tenant), until: t('node.notFound') },

  { name: 'fleet', url: '/fleet', until: t('fleet.table') },
  { name: 'fleet-10000', url: '/fleet?by=cpu', scene: 'large', until: t('fleet.table') },
  { name: 'fleet-empty', url: '/fleet', scene: 'empty', until: t('fleet.emptyTitle') },
  { name: 'fleet-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('nav.fleet')) },
  { name: 'enrollment', url: '/fleet?tab=enrollment', until: 'for the new rack' },
  { name: 'enrollment-all', url: '/fleet?tab=enrollment&tokens=all', until: t('enrollmentTokenState.REVOKED') },
  { name: 'enrollment-many', url: '/fleet?tab=enrollment', scene: 'large', until: t('common.loadMore') },
  { name: 'enrollment-empty', url: '/fleet?tab=enrollment', scene: 'empty', until: t('enrollmentToken.emptyTitle') },
  { name: 'enrollment-error', url: '/fleet', ...cut, act: openAfterCut(t('fleet.tabEnrollment'), 'tab') },
  {
    name: 'enroll-key',
    url: '/fleet',
    until: t('enroll.keyHint'),
    act: async ({ page }) => {
      await button(page, t('enroll.open')).click()
      await page.getByRole('tab', { name: t('enroll.byKey') }).click()
    },
  },
  { name: 'agent-settings', url: '/settings/agents', until: t('agentSettings.massOutage') },
  { name: 'agent-settings-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('nav.agentSettings')) },

  { name: 'alerts', url: '/alerts', until: alertOf(0) },
  { name: 'alerts-10000', url: '/alerts', scene: 'large', until: alertOf(0) },
  { name: 'alerts-empty', url: '/alerts', scene: 'empty', until: t('alerts.emptyTitle') },
  { name: 'alerts-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('nav.alerts')) },
  {
    name: 'alerts-selected',
    url: '/alerts',
    until: t('nodes.selected', { count: 1 }),
    act: async ({ page }) =>
      page
        .getByRole('checkbox', { name: new RegExp(`${nodeName(1)} `) })
        .first()
        .click(),
  },
  {
    name: 'alert',
    url: '/alerts',
    until: t('alerts.evidence'),
    act: async ({ page }) => page.getByRole('button', { name: alertOf(0) }).click(),
  },
  {
    name: 'alert-accelerator-lost',
    url: '/alerts',
    until: t('alerts.expected'),
    act: async ({ page }) => page.getByRole('button', { name: alertOf(4) }).click(),
  },
  {
    name: 'alert-silence',
    url: '/alerts',
    until: t('silences.needReason'),
    act: async ({ page }) => page.getByRole('button', { name: t('alerts.silenceName', { text: nodeName(0) }) }).click(),
  },
  { name: 'silences', url: '/alerts?tab=silences', until: 'The rack is being moved' },
  { name: 'routes', url: '/alerts?tab=routes', until: 'on call' },
  {
    name: 'route-new',
    url: '/alerts?tab=routes',
    until: t('routes.secretHint'),
    act: async ({ page }) => button(page, t('routes.new')).click(),
  },

  { name: 'slurm', url: '/slurm', until: 'inference-us' },
  { name: 'slurm-empty', url: '/slurm', scene: 'empty', until: t('slurm.emptyTitle') },
  { name: 'slurm-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('nav.slurm')) },
  {
    name: 'slurm-starts',
    url: '/slurm',
    until: t('slurmOverview.startText'),
    act: async ({ page }) => {
      await page.getByLabel(t('slurmOverview.gpus')).fill('4')
      await page.getByLabel(t('slurmOverview.gpuType')).selectOption('h100')
      await button(page, t('slurmOverview.estimate')).click()
    },
  },
  { name: 'slurm-many', url: '/slurm', scene: 'large', until: 'site-23' },
  { name: 'slurm-clusters', url: '/slurm/clusters', until: 'inference-us' },
  { name: 'groups', url: '/groups', until: 'project_genome' },
  { name: 'groups-empty', url: '/groups', scene: 'empty', until: t('group.emptyTitle') },
  { name: 'groups-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('nav.groups')) },
  {
    name: 'group-new',
    url: '/groups',
    until: /^Matches [1-9]/,
    act: async ({ page }) => {
      await button(page, t('group.new')).click()
      await page.getByLabel(t('group.membership')).selectOption('QUERY')
      await page.getByLabel(t('group.query')).last().fill('accelerator.vendor = nvidia')
    },
  },
  { name: 'group', url: ({ groups }) => groupUrl(groups.project), until: 'scratch' },
  { name: 'group-query', url: ({ groups }) => groupUrl(groups.query), until: nodeName(0) },
  {
    name: 'group-add',
    url: ({ groups }) => groupUrl(groups.project),
    until: /is in project_genome/,
    act: async ({ page }) => {
      await button(page, t('group.add')).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(t('nav.nodes')).fill(`${nodeName(12)},${nodeName(13)}`)
      await dialog.getByRole('button', { name: t('group.add') }).click()
    },
  },
  {
    name: 'group-delete',
    url: ({ groups }) => groupUrl(groups.project),
    until: t('group.deleteTitle', { name: 'project_climate' }),
    act: async ({ page }) => button(page, t('group.delete')).click(),
  },
  { name: 'group-missing', url: groupUrl({ id: '00000000-0000-7000-8000-000000000000' }), until: t('group.notFound') },
  { name: 'power-runs', url: '/power', until: t('powerRunStatus.PARTIAL') },
  { name: 'power-runs-empty', url: '/power', scene: 'empty', until: t('powerRun.emptyTitle') },
  { name: 'power-runs-10000', url: '/power', scene: 'large', until: '10,001' },
  { name: 'power-runs-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('nav.power')) },
  { name: 'power-run', url: ({ power }) => powerRunUrl(power.powerRunId), until: t('powerRun.retry', { count: 3 }) },
  {
    name: 'power-run-10000',
    url: '/power',
    scene: 'large',
    until: t('powerRun.retry', { count: 200 }),
    act: async ({ page }) =>
      page
        .getByRole('link', { name: t('powerAction.ON') })
        .first()
        .click(),
  },
  { name: 'power-run-missing', url: powerRunUrl('0198a000-0000-7000-8000-000000000000'), until: t('powerRun.goneTitle') },
  { name: 'bmc-discoveries', url: '/power/discoveries', until: /10\.8\.0\.0/ },
  { name: 'bmc-discoveries-empty', url: '/power/discoveries', scene: 'empty', until: t('bmcDiscovery.emptyTitle') },
  {
    name: 'bmc-discovery-new',
    url: '/power/discoveries',
    until: t('bmcDiscovery.addressesHint'),
    act: async ({ page }) => button(page, t('bmcDiscovery.new')).click(),
  },
  { name: 'bmc-discovery', url: ({ power }) => bmcDiscoveryUrl(power.bmcDiscoveryId), until: t('bmcDiscovery.noNode') },
  {
    name: 'bmc-discovery-assign',
    url: ({ power }) => bmcDiscoveryUrl(power.bmcDiscoveryId),
    until: t('bmcDiscovery.approve', { count: 2 }),
    act: async ({ page }) => {
      await button(page, t('bmcDiscovery.selectClear', { count: 2 })).click()
      await button(page, t('bmcDiscovery.assign', { count: 2 })).click()
    },
  },
  { name: 'node-bmc-conflict', url: ({ power }) => `${nodeUrl(power.bmcConflict)}?tab=power`, until: t('bmc.conflictTitle') },
  { name: 'openchami', url: '/settings/openchami', until: t('openchamiState.DRIFT') },
  { name: 'openchami-empty', url: '/settings/openchami', scene: 'empty', until: t('openchami.emptyTitle') },
  {
    name: 'openchami-edit',
    url: '/settings/openchami',
    until: t('openchami.caHint'),
    act: async ({ page }) => button(page, t('group.edit')).click(),
  },
  { name: 'schedules', url: '/schedules', until: 'weekly-discovery' },
  { name: 'schedules-empty', url: '/schedules', scene: 'empty', until: t('schedule.emptyTitle') },
  { name: 'schedules-filtered', url: '/schedules?q=nothing', until: t('schedule.noMatch') },
  { name: 'schedules-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('nav.schedules')) },
  { name: 'schedule', url: ({ schedules }) => scheduleUrl(schedules.schedule), until: /weekend covers this time/ },
  {
    name: 'schedule-edit',
    url: ({ schedules }) => `${scheduleUrl(schedules.schedule)}?tab=edit`,
    until: t('schedule.jitterNote'),
  },
  { name: 'schedule-missing', url: scheduleUrl({ id: '01900000-0000-7000-8000-000000000000' }), until: t('schedule.notFound') },
  { name: 'schedule-new', url: '/schedules/new?template=connectivity_check&limit=all', until: /GMT|UTC/ },
  {
    name: 'schedule-invalid',
    url: '/schedules/new?template=connectivity_check&limit=all',
    until: /must be a cron expression/,
    act: async ({ page }) => page.getByLabel(t('schedule.rule'), { exact: true }).fill('every day'),
  },
  { name: 'triggers', url: '/schedules?tab=triggers', until: 'Remediate a node' },
  { name: 'triggers-empty', url: '/schedules?tab=triggers', scene: 'empty', until: t('trigger.emptyTitle') },
  {
    name: 'trigger-edit',
    url: '/schedules?tab=triggers',
    until: t('trigger.variableName'),
    act: async ({ page }) =>
      page
        .getByRole('listitem')
        .filter({ hasText: 'Remediate' })
        .getByRole('button', { name: t('schedule.edit'), exact: true })
        .click(),
  },
  {
    name: 'trigger-history',
    url: '/schedules?tab=triggers',
    until: /does not permit/,
    act: async ({ page }) =>
      page
        .getByRole('listitem')
        .filter({ hasText: 'Remediate' })
        .getByRole('button', { name: t('trigger.history'), exact: true })
        .click(),
  },
  { name: 'boot-profiles', url: '/boot/profiles', until: t('bootProfile.addition') },
  { name: 'boot-durations', url: '/boot/durations', until: t('bootStage.PHONE_HOME') },
  { name: 'boot-durations-filtered', url: '/boot/durations?group=rack_a12&profile=arm', until: t('bootDuration.title') },
  { name: 'boot-durations-empty', url: '/boot/durations', scene: 'empty', until: t('bootDuration.emptyTitle') },
  { name: 'unknown-machines', url: '/boot/unknown-machines', until: /LAB-001/ },
  { name: 'unknown-machines-empty', url: '/boot/unknown-machines', scene: 'empty', until: t('unknownMachine.emptyTitle') },
  { name: 'node-boot', url: ({ nodes }) => `${nodeUrl(nodes[0]!)}?tab=boot`, until: t('bootFetch.hash') },
  { name: 'boot-profiles-empty', url: '/boot/profiles', scene: 'empty', until: t('bootProfile.emptyTitle') },
  { name: 'boot-profiles-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('nav.boot')) },
  { name: 'boot-profile', url: '/boot/profiles/gpu', until: t('bootProfile.inheritedFrom', { name: 'base' }) },
  {
    name: 'boot-profile-invalid',
    url: '/boot/profiles/gpu',
    until: /occurs twice/,
    act: async ({ page }) => {
      await page.getByLabel(t('bootField.userData')).fill('#cloud-config\na: 1\na: 2')
      await button(page, t('common.save')).click()
    },
  },
  { name: 'boot-profile-result', url: '/boot/profiles/gpu?tab=result', until: t('bootProfile.replacedFrom', { name: 'base' }) },
  { name: 'boot-profile-assignments', url: '/boot/profiles/gpu?tab=assignments', until: /rack_a12/ },
  {
    name: 'boot-profile-assign',
    url: '/boot/profiles/gpu?tab=assignments',
    until: t('bootProfile.assignText'),
    act: async ({ page }) => button(page, t('bootProfile.assign')).click(),
  },
  {
    name: 'boot-profile-history',
    url: '/boot/profiles/gpu?tab=history',
    until: 'hugepages=512',
    act: async ({ page }) => page.getByText(t('bootProfile.changes', { count: 1 })).click(),
  },
  { name: 'boot-profile-missing', url: '/boot/profiles/nope', until: t('bootProfile.notFound', { name: 'nope' }) },
  { name: 'slurm-snippets', url: '/slurm/snippets', until: t('slurmSnippetState.CONFLICT') },
  { name: 'slurm-snippets-empty', url: '/slurm/snippets', scene: 'empty', until: t('slurmSnippet.emptyTitle') },
  {
    name: 'slurm-snippet-new',
    url: '/slurm/snippets',
    until: 'slurm.conf:1',
    act: async ({ page }) => {
      await button(page, t('slurmSnippet.new')).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel(t('slurmSnippet.name'), { exact: true }).fill('prolog')
      await dialog.getByLabel('slurm.conf', { exact: true }).fill('NoSuchKey=1')
      await dialog.getByLabel('alps').check()
      await dialog.getByLabel(t('slurmAction.reason'), { exact: true }).fill('Longer arrays')
      await button(page, t('slurmSnippet.save')).click()
    },
  },
  {
    name: 'slurm-snippet-apply',
    url: '/slurm/snippets',
    until: 'KillWait=60',
    act: async ({ page }) => {
      await button(page, t('slurmSnippet.review')).click()
      await page
        .getByRole('dialog')
        .getByText(t('slurmSnippet.lines', { added: '4', removed: '0' }))
        .waitFor()
    },
  },
  { name: 'slurm-clusters-empty', url: '/slurm/clusters', scene: 'empty', until: t('slurm.emptyTitle') },
  { name: 'slurm-external', url: '/slurm/external-clusters', until: 'inference-us' },
  { name: 'slurm-connect', url: '/slurm/external-clusters', scene: 'empty', until: t('slurmConnect.formTitle') },
  { name: 'slurm-cluster', url: ({ clusters }) => clusterUrl(clusters.current), until: t('slurm.pendingReasons') },
  { name: 'slurm-cluster-silent', url: ({ clusters }) => clusterUrl(clusters.silent), until: /No controller answers/ },
  { name: 'slurm-nodes', url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=nodes`, until: nodeName(0) },
  {
    name: 'slurm-node',
    url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=nodes`,
    until: t('slurmNode.gres'),
    act: async ({ page }) => button(page, nodeName(6)).click(),
  },
  {
    name: 'slurm-partitions',
    url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=partitions`,
    until: 'gpu[00001-00005]',
  },
  { name: 'slurm-jobs', url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=jobs`, until: 'train-89' },
  {
    name: 'slurm-job',
    url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=jobs`,
    until: t('slurmJob.submitted'),
    act: async ({ page }) => page.getByRole('link', { name: '4089', exact: true }).click(),
  },
  {
    name: 'slurm-reservations',
    url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=reservations`,
    until: 'maintenance-of-the-cooling-loop',
  },
  {
    name: 'slurm-licenses',
    url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=licenses`,
    until: 'ansys@license-server',
  },
  { name: 'slurm-config', url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=settings`, until: 'SchedulerType' },
  {
    name: 'slurm-config-reused',
    url: ({ clusters }) => `${clusterUrl(clusters.silent)}?tab=settings`,
    until: t('slurmConfig.emptyTitle'),
  },
  {
    name: 'slurm-config-version',
    url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=settings`,
    until: /TreeWidth=64/,
    act: async ({ page }) => button(page, t('slurmConfig.version', { number: '2' })).click(),
  },
  {
    name: 'slurm-config-rollout',
    url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=settings`,
    until: t('slurmConfig.fingerprint'),
    act: async ({ page }) => button(page, t('slurmConfig.rollout', { number: '2' })).click(),
  },
  {
    name: 'slurm-config-edit',
    url: ({ clusters }) => `${clusterUrl(clusters.current)}?tab=settings`,
    until: 'slurm.conf:2',
    act: async ({ page }) => {
      await button(page, t('slurmConfig.edit')).click()
      const text = page.getByLabel('slurm.conf').and(page.getByRole('textbox'))
      await text.fill((await text.inputValue()).replace('SlurmctldHost=', 'SlurmctldHots=x\nSlurmctldHost='))
    },
  },
  {
    name: 'slurm-grid-5000',
    url: '/slurm/clusters',
    scene: 'large',
    until: t('slurmNode.allGrid', { count: 5000 }),
    act: async ({ page }) => {
      await page.getByRole('link', { name: 'alps', exact: true }).click()
      await page.getByRole('tab', { name: t('slurm.nodes') }).click()
      await button(page, t('slurmNode.grid')).click()
    },
  },

  { name: 'runs', url: '/runs', until: t('runStatus.TIMED_OUT') },
  { name: 'runs-empty', url: '/runs', scene: 'empty', until: t('runs.emptyTitle') },
  { name: 'runs-10000', url: '/runs', scene: 'large', until: '10,000' },
  { name: 'run-new', url: '/runs/new', until: 'Install driver' },
  {
    name: 'run-new-inputs',
    url: '/runs/new?template=install_driver&limit=all',
    until: t('preview.rejected'),
    act: async ({ page }) => {
      await page.getByLabel('license').fill('a secret')
      await page.getByText(t('runs.moreOptions')).click()
      await button(page, t('runs.preview')).click()
    },
  },
  {
    name: 'run-new-slurm',
    url: '/runs/new?template=connectivity_check&limit=gpu[00011-00020]',
    until: t('slurmRun.outOfService'),
    act: async ({ page }) => {
      await page.getByLabel(t('slurmRun.drain')).check()
      await page.getByLabel(t('slurmRun.floorPercent')).fill('0')
      await button(page, t('runs.preview')).click()
    },
  },
  {
    name: 'run-new-offline',
    url: '/runs/new?template=connectivity_check&limit=gpu[00012-00014]',
    until: t('preview.skipped'),
    act: async ({ page }) => {
      await page.getByText(t('runs.moreOptions')).click()
      await button(page, t('runs.preview')).click()
    },
  },
  { name: 'run-batches', url: ({ batchRun }) => runUrl(batchRun), until: t('slurmRunPhase.WAITING_FOR_JOBS') },
  { name: 'run-log', url: ({ runs }) => runUrl(runs.RUNNING), until: t('log.following') },
  {
    name: 'run-canceled',
    url: ({ runs }) => `${runUrl(runs.CANCELED)}?tab=hosts`,
    until: t('run.interruptedTitle', { count: 6 }),
  },
  { name: 'run-events', url: ({ runs }) => `${runUrl(runs.PARTIAL)}?tab=events`, until: 'Read accelerators' },
  { name: 'run-waiting', url: ({ runs }) => runUrl(runs.PENDING), until: t('run.waitsFor', { count: 1 }) },
  { name: 'run-artifacts', url: ({ runs }) => `${runUrl(runs.PARTIAL)}?tab=artifacts`, until: 'reports/firmware.csv' },
  {
    name: 'run-retry',
    url: ({ runs }) => runUrl(runs.PARTIAL),
    until: t('run.retryNotRun', { count: 2 }),
    act: async ({ page }) => button(page, t('run.retryMenu')).click(),
  },
  { name: 'run-details', url: ({ runs }) => `${runUrl(runs.SUCCEEDED)}?tab=details`, until: t('run.how') },

  { name: 'credentials', url: '/credentials', until: 'fleet key' },
  {
    name: 'credential-new',
    url: '/credentials',
    until: t('credential.privateKeyHint'),
    act: async ({ page }) => button(page, t('credential.new')).click(),
  },
  {
    name: 'secret-store-new',
    url: '/credentials',
    until: t('secretStores.secretHint'),
    act: async ({ page }) => button(page, t('secretStores.new')).click(),
  },
  {
    name: 'credential-rotate',
    url: '/credentials',
    until: t('rotation.source'),
    act: async ({ page }) =>
      page
        .getByRole('button', { name: t('rotation.action'), exact: true, disabled: false })
        .first()
        .click(),
  },
  {
    name: 'credential-moved',
    url: '/credentials',
    until: t('credential.reenter'),
    act: async ({ page }) => {
      const bastion = page.getByRole('listitem').filter({ hasText: 'dmz bastion' })
      await bastion
        .getByRole('button', { name: t('credential.update') })
        .first()
        .click()
      await page.getByLabel(t('node.host')).fill('another.example')
    },
  },
  { name: 'audit', url: '/settings/audit', until: 'session.create' },
  { name: 'audit-filtered', url: '/settings/audit?action=api_token&outcome=SUCCEEDED', until: 'api_token.revoke' },
  { name: 'audit-none', url: '/settings/audit?text=nothing-matches-this', until: t('audit.noMatch') },
  { name: 'audit-10000', url: '/settings/audit', scene: 'large', until: 'session.create' },
  { name: 'audit-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('nav.audit')) },
  {
    name: 'audit-entry',
    url: '/settings/audit?text=updated-by',
    until: t('audit.sameObject'),
    act: async ({ page }) => page.getByRole('button', { name: 'node.update' }).first().click(),
  },
  {
    name: 'audit-verified',
    url: '/settings/audit',
    until: t('audit.valid', { count: 0 }),
    act: async ({ page }) => button(page, t('audit.verify')).click(),
  },
  { name: 'audit-sinks', url: '/settings/audit-sinks', until: 'log archive' },
  { name: 'audit-sinks-empty', url: '/settings/audit-sinks', scene: 'empty', until: t('sinks.emptyTitle') },
  { name: 'audit-sinks-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('sinks.title')) },
  {
    name: 'audit-sink-edit',
    url: '/settings/audit-sinks',
    until: t('sinks.caCertificateHint'),
    act: async ({ page }) => button(page, t('routes.edit')).last().click(),
  },
  { name: 'ledger', url: '/settings/ledger', until: t('ledger.checkpoint') },
  { name: 'ledger-empty', url: '/settings/ledger', scene: 'empty', until: t('ledger.enable') },
  { name: 'ledger-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('ledger.title')) },
  { name: 'retention', url: '/settings/retention', until: t('retention.auditDaysHint') },
  { name: 'retention-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('retention.title')) },
  { name: 'sign-in-methods', url: '/settings/sign-in', until: t('signInMethods.title') },
  { name: 'system', url: '/settings/system', until: t('encryptionKey.rotate') },
  { name: 'system-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('system.title')) },
  {
    name: 'system-drain',
    url: '/settings/system',
    until: t('workers.drainText'),
    act: async ({ page }) =>
      page
        .getByRole('button', { name: /^Drain / })
        .first()
        .click(),
  },
  { name: 'device', url: '/device', until: t('device.continue') },
  { name: 'tokens', url: '/settings/tokens', until: 'nightly inventory export' },
  { name: 'members', url: '/settings/members', until: t('members.noInvitations') },
  { name: 'members-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('members.title')) },
  {
    name: 'member-invite',
    url: '/settings/members',
    until: t('tokens.roleHint'),
    act: async ({ page }) => button(page, t('members.invite')).click(),
  },
  {
    name: 'service-account-new',
    url: '/settings/members',
    until: t('serviceAccounts.nameHint'),
    act: async ({ page }) => button(page, t('serviceAccounts.new')).click(),
  },
  { name: 'roles', url: '/settings/roles', until: 'firmware-team' },
  { name: 'roles-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('roles.title')) },
  {
    name: 'role-permissions',
    url: '/settings/roles',
    until: 'node:approve_host_key',
    act: async ({ page }) =>
      page
        .getByText(/^\d+ permissions$/)
        .nth(2)
        .click(),
  },
  {
    name: 'role-new',
    url: '/settings/roles',
    until: t('roles.nameHint'),
    act: async ({ page }) => button(page, t('roles.new')).click(),
  },
  { name: 'grants', url: '/settings/grants', until: 'rack_of_the_computational_chemistry_group' },
  { name: 'grants-empty', url: '/settings/grants', scene: 'empty', until: t('grants.emptyTitle') },
  { name: 'grants-error', url: '/settings/tokens', ...cut, act: openAfterCut(t('grants.title')) },
  {
    name: 'grant-new',
    url: '/settings/grants',
    until: t('grants.templatesHint'),
    act: async ({ page }) => button(page, t('grants.new')).click(),
  },
  {
    name: 'token-new',
    url: '/settings/tokens',
    until: t('tokens.nodeGroups'),
    act: async ({ page }) => {
      await button(page, t('tokens.new')).click()
      await page.getByLabel(t('tokens.limitPermissions')).check()
      await page.getByLabel(t('tokens.limitGroups')).check()
    },
  },
  { name: 'invitation-invalid', url: '/invitation', scene: 'signed-out', until: t('invitation.invalid') },
  { name: 'reset-password', url: '/reset-password', scene: 'signed-out', until: t('reset.send') },
  { name: 'not-found', url: '/no/such/page', until: t('notFound.title') },
]

/** The dark theme differs in colors only, a phone in layout only: these pages have every color and every layout. */
export const DARK = [
  'group',
  'power-run',
  'bmc-discovery',
  'boot-profile-history',
  'schedules',
  'schedule',
  'boot-durations',
  'slurm',
  'slurm-snippets',
  'slurm-cluster',
  'slurm-config-rollout',
  'slurm-node',
  'sign-in',
  'nodes',
  'add-preflight',
  'node-alarm',
  'runs',
  'run-batches',
  'run-log',
  'run-events',
  'credential-new',
  'fleet',
  'enrollment-all',
  'agent-settings',
  'node-agent-changed',
  'alerts-selected',
  'audit',
  'audit-entry',
  'system',
]
export const PHONE = [
  'openchami',
  'groups',
  'group',
  'power-runs',
  'power-run',
  'bmc-discovery',
  'bmc-discovery-assign',
  'schedules',
  'schedule',
  'schedule-edit',
  'triggers',
  'trigger-edit',
  'boot-durations',
  'unknown-machines',
  'node-boot',
  'boot-profile-invalid',
  'boot-profile-assignments',
  'run-batches',
  'run-new-slurm',
  'slurm',
  'slurm-starts',
  'slurm-snippets',
  'slurm-snippet-new',
  'slurm-snippet-apply',
  'slurm-clusters',
  'slurm-config',
  'slurm-config-edit',
  'slurm-config-version',
  'slurm-connect',
  'slurm-cluster',
  'slurm-cluster-silent',
  'slurm-nodes',
  'slurm-node',
  'slurm-jobs',
  'slurm-job',
  'sign-in',
  'nodes-filtered',
  'nodes-selected',
  'nodes-maintenance',
  'nodes-drain',
  'node-maintenance',
  'run-new-offline',
  'add-single',
  'add-bulk',
  'add-preflight',
  'add-keys',
  'node-alarm',
  'node',
  'node-edit',
  'node-long-name',
  'node-agent',
  'node-bmc-conflict',
  'node-accelerators',
  'node-agent-changed',
  'enroll',
  'fleet',
  'enrollment-all',
  'agent-settings',
  'alerts-selected',
  'alert-silence',
  'routes',
  'runs',
  'run-new',
  'run-new-inputs',
  'run-waiting',
  'run-artifacts',
  'run-log',
  'run-canceled',
  'credentials',
  'tokens',
  'token-new',
  'roles',
  'role-permissions',
  'role-new',
  'grants',
  'grant-new',
  'audit',
  'audit-entry',
  'system',
]
