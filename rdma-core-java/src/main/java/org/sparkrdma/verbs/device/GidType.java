// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.device;

/** The kind of an entry in a port's GID table, see ibv_query_gid_table(3). */
public enum GidType {
  INFINIBAND,
  ROCE_V1,
  ROCE_V2,
  IWARP,
  LOOPBACK
}
