'use client'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { CreateProfile, profileHref } from '@/boot/profiles/documents.ts'
import { EMPTY, inputOf } from '@/boot/profiles/form-values.ts'
import { ProfileForm } from '@/boot/profiles/profile-form.tsx'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { TextField } from '@/ui/field.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'

/** Creates a boot profile. */
export default function NewBootProfilePage() {
  useTitle(t('bootProfile.new'))
  const router = useRouter()
  const create = useMutation(CreateProfile)
  const denied = useBlockedReason('boot_profile:write')
  const [name, setName] = useState('')
  const [form, setForm] = useState(EMPTY)
  async function save() {
    const outcome = await create.run({ input: { name: name.trim(), ...inputOf(form) } })
    if (!outcome.ok) return
    toast('ok', t('bootProfile.saved', { name: name.trim() }))
    router.replace(profileHref(name.trim()))
  }
  return (
    <>
      <PageHead
        above={
          <Link href="/boot/profiles" className="hover:underline">
            {t('bootProfile.title')}
          </Link>
        }
        title={t('bootProfile.new')}
      />
      <ProfileForm
        form={form}
        onChange={(change) => setForm((before) => ({ ...before, ...change }))}
        problem={create.problem}
        own={null}
        busy={create.busy}
        blockedReason={denied ?? (name.trim() ? null : t('bootProfile.needName'))}
        onSave={() => void save()}
      >
        <TextField
          label={t('bootProfile.name')}
          hint={t('bootProfile.nameHint')}
          mono
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={issueFor(create.problem, 'name')}
        />
      </ProfileForm>
    </>
  )
}
