// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs;

/** Operation of a work request, or of a successful completion. */
public enum Opcode {
  /** Two-sided: sends into the oldest receive that the peer has posted. */
  SEND,
  /** {@link #SEND} with 32 bits of immediate data. */
  SEND_WITH_IMMEDIATE,
  /** One-sided: copies local memory into the peer's memory. */
  WRITE,
  /** {@link #WRITE} that also consumes a receive of the peer and gives it 32 bits. */
  WRITE_WITH_IMMEDIATE,
  /** One-sided: copies the peer's memory into local memory. */
  READ,
  /** A receive. */
  RECEIVE,
  /** Used in completions only: a receive consumed by a {@link #WRITE_WITH_IMMEDIATE}. */
  RECEIVE_WRITE_WITH_IMMEDIATE
}
