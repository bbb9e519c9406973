// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.shuffle.tools.doctor;

/** Weight of a finding. */
public enum Level {
  /** Nothing to do. */
  OK,
  /** Good to know. */
  NOTE,
  /** RDMA works, but worse than it could, or it may fail later. */
  WARNING,
  /** A cause why RDMA is not used. */
  PROBLEM
}
