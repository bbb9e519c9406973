// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkrdma.verbs.AccessFlag.LOCAL_WRITE;
import static org.sparkrdma.verbs.AccessFlag.RELAXED_ORDERING;
import static org.sparkrdma.verbs.AccessFlag.REMOTE_READ;

import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkrdma.verbs.AccessFlag;
import org.sparkrdma.verbs.device.TransportType;

class RegionAccessTest {
  /** RFC 5040, section 5.2: the answer to a READ is a tagged write of the peer. */
  @ParameterizedTest
  @EnumSource
  void shouldLetPeersWriteSinksOfIwarpAndNothingElse(TransportType transport) {
    boolean iwarp = transport == TransportType.IWARP;
    assertThat(isRemotelyWritable(transport, LOCAL_WRITE)).isEqualTo(iwarp);
    assertThat(isRemotelyWritable(transport, LOCAL_WRITE, RELAXED_ORDERING)).isEqualTo(iwarp);
    assertThat(isRemotelyWritable(transport, REMOTE_READ)).isFalse();
    assertThat(isRemotelyWritable(transport, LOCAL_WRITE, REMOTE_READ)).isFalse();
    assertThat(isRemotelyWritable(transport)).isFalse();
  }

  private static boolean isRemotelyWritable(TransportType transport, AccessFlag... access) {
    return (RegionAccess.bits(transport, Set.of(access)) & RegionAccess.REMOTE_WRITE) != 0;
  }
}
