/* reading_notes.h - what a report says of a recording that was read: what it lacks, and why. */
#ifndef WM_MODEL_CONTEXTS_READING_NOTES_H
#define WM_MODEL_CONTEXTS_READING_NOTES_H

#include "format/wmk.h"
#include "model/base/profile.h"
#include "model/contexts/context.h"

/* Each adds a note to the profile, or none. */
/* The agent was not there. */
struct error *note_agent(struct profile *p, const struct wmk_file *w);
/* sum: of what contexts had at the peak. In a process with threads, calls that were under way may be in one of the two numbers only (runtime/heap/at_peak.h). */
struct error *note_peak(struct profile *p, const struct wmk_file *w, uint64_t sum);
/* The heap is that of an earlier version. */
struct error *note_old_heap(struct profile *p, const struct wmk_file *w);
/* While the file was read, its process may have given space of events to later ones. */
struct error *note_recycled(struct profile *p, const struct wmk_file *w);
/* Files of recorded code that were not found, and debug information that was not: after all names have been looked up. */
struct error *note_unnamed(struct profile *p, const struct process *process);

#endif
