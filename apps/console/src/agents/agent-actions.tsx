'use client'
import { EllipsisVertical, KeySquare, ListRestart, LogOut, Pause, Play } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { StateDialog } from '@/nodes/states/state-dialog.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { toast } from '@/ui/toast.tsx'
import { type Agent, DeregisterAgent, ResetAgentSequence, ResumeAgent } from './agent-documents.ts'

type Props = { nodeId: string; name: string; agent: Agent; onEnroll: () => void }

/** Actions on an agent. A blocked action shows its reason. */
export function AgentActions({ nodeId, name, agent, onEnroll }: Props) {
  const resume = useMutation(ResumeAgent)
  const deregister = useMutation(DeregisterAgent)
  const reset = useMutation(ResetAgentSequence)
  const [open, setOpen] = useState<'drain' | 'reset' | 'deregister' | null>(null)
  const ids = useMemo(() => [nodeId], [nodeId])
  const close = () => setOpen(null)
  async function resumeNow() {
    const outcome = await resume.run({ nodeId })
    if (!outcome.ok) toast('bad', outcome.problem.message)
  }
  return (
    <>
      <Button icon={<Pause aria-hidden />} blockedReason={agent.drainBlockedReason} onClick={() => setOpen('drain')}>
        {t('agent.drainAction')}
      </Button>
      <Button
        icon={<Play aria-hidden />}
        blockedReason={agent.resumeBlockedReason}
        busy={resume.busy}
        onClick={() => void resumeNow()}
      >
        {t('agent.resume')}
      </Button>
      <Menu label={t('agent.more')} icon={<EllipsisVertical aria-hidden />} iconOnly>
        <div className="w-60">
          <MenuItem icon={<KeySquare aria-hidden />} onClick={onEnroll}>
            {t('enroll.openNode')}
          </MenuItem>
          <MenuItem
            icon={<ListRestart aria-hidden />}
            blockedReason={agent.resetSequenceBlockedReason}
            onClick={() => setOpen('reset')}
          >
            {t('agent.reset')}
          </MenuItem>
          <MenuItem
            icon={<LogOut aria-hidden />}
            danger
            blockedReason={agent.deregisterBlockedReason}
            onClick={() => setOpen('deregister')}
          >
            {t('agent.deregister')}
          </MenuItem>
        </div>
      </Menu>
      {open === 'drain' && <StateDialog ids={ids} action={open} title={t('agent.drainTitle', { name })} onClose={close} />}
      {open === 'reset' && (
        <Confirm
          title={t('agent.resetTitle', { name })}
          action={t('agent.reset')}
          onClose={close}
          onConfirm={() => reset.run({ nodeId })}
        >
          <p>{t('agent.resetText')}</p>
        </Confirm>
      )}
      {open === 'deregister' && (
        <Confirm
          title={t('agent.deregisterTitle', { name })}
          action={t('agent.deregister')}
          confirmText={name}
          onClose={close}
          onConfirm={() => deregister.run({ nodeId })}
        >
          <p>{t('agent.deregisterText')}</p>
        </Confirm>
      )}
    </>
  )
}
