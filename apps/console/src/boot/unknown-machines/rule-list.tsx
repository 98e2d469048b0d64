'use client'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Panel } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { BootRulesQuery, DeleteBootRule, type Rule } from './documents.ts'
import { RuleDialog } from './rule-dialog.tsx'

const CONDITIONS = ['macPrefixes', 'interfaceMacPrefixes', 'serials', 'systemUuids'] as const

function Conditions({ rule }: { rule: Rule }) {
  const all = CONDITIONS.flatMap((field) => (rule[field] ? [[t(`bootRule.${field}`), rule[field].join(', ')]] : []))
  if (rule.arch) all.push([t('bootField.arch'), rule.arch])
  return (
    <p className="text-xs wrap-anywhere text-muted">
      {all.map(([label, values]) => (
        <span key={label} className="mr-3">
          {label} <code className="font-mono text-text">{values}</code>
        </span>
      ))}
    </p>
  )
}

/** Rules that accept unknown machines, in the order in which they are tried. */
export function RuleList({ onChange }: { onChange: () => void }) {
  const list = useConnection('boot-rules', BootRulesQuery, {}, (data) => data.bootRules)
  const remove = useMutation(DeleteBootRule)
  const blockedReason = useBlockedReason('boot_rule:write')
  const [dialog, setDialog] = useState<{ kind: 'edit'; rule: Rule | null } | { kind: 'delete'; rule: Rule } | null>(null)
  const close = (isChanged: boolean) => {
    setDialog(null)
    if (!isChanged) return
    void list.reload()
    onChange()
  }
  const rules = [...list.rows].sort((a, b) => a.priority - b.priority || a.name.localeCompare(b.name))
  return (
    <Panel
      title={t('bootRule.title')}
      actions={
        <Button blockedReason={blockedReason} onClick={() => setDialog({ kind: 'edit', rule: null })}>
          {t('bootRule.new')}
        </Button>
      }
    >
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('bootRule.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : rules.length === 0 ? (
        <p className="text-sm text-muted">{t('bootRule.text')}</p>
      ) : (
        <ul className="divide-y divide-line text-sm">
          {rules.map((rule) => (
            <li key={rule.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 py-2.5 first:pt-0 last:pb-0">
              <div className="flex min-w-0 flex-1 basis-64 flex-col gap-1">
                <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <span className="font-medium wrap-anywhere">{rule.name}</span>
                  {!rule.isEnabled && <Badge>{t('bootRule.disabled')}</Badge>}
                  {rule.accepted >= rule.maxAccepted && <Badge tone="warn">{t('bootRule.usedUp')}</Badge>}
                  <code className="font-mono text-xs wrap-anywhere">{rule.names}</code>
                </div>
                <Conditions rule={rule} />
                <p className="text-xs wrap-anywhere text-muted">
                  {t('bootRule.accepted', { accepted: rule.accepted, max: rule.maxAccepted })}
                  {rule.lastAcceptedAt && (
                    <>
                      {' · '}
                      <RelativeTime at={rule.lastAcceptedAt} />
                    </>
                  )}
                  {` · ${t('bootProfile.priorityOf', { priority: String(rule.priority) })}`}
                  {rule.group && ` · ${t('bootRule.group')} ${rule.group.name}`}
                  {rule.profile && ` · ${t('bootProfile.one')} ${rule.profile.name}`}
                </p>
                {rule.problem && <p className="text-xs wrap-anywhere text-bad">{rule.problem}</p>}
              </div>
              <div className="flex gap-2">
                <Button
                  blockedReason={rule.updateBlockedReason}
                  aria-label={t('bootRule.editTitle', { name: rule.name })}
                  onClick={() => setDialog({ kind: 'edit', rule })}
                >
                  {t('bootRule.edit')}
                </Button>
                <Button
                  variant="quiet"
                  blockedReason={rule.updateBlockedReason}
                  aria-label={t('bootRule.deleteName', { name: rule.name })}
                  onClick={() => setDialog({ kind: 'delete', rule })}
                >
                  {t('bootRule.delete')}
                </Button>
              </div>
            </li>
          ))}
        </ul>
      )}
      {dialog?.kind === 'edit' && <RuleDialog rule={dialog.rule} onClose={close} />}
      {dialog?.kind === 'delete' && (
        <Confirm
          title={t('bootRule.deleteTitle', { name: dialog.rule.name })}
          action={t('bootRule.delete')}
          onConfirm={async () => {
            const outcome = await remove.run({ id: dialog.rule.id })
            if (outcome.ok) void list.reload()
            return outcome
          }}
          onClose={() => close(false)}
        >
          <p>{t('bootRule.deleteText')}</p>
        </Confirm>
      )}
    </Panel>
  )
}
