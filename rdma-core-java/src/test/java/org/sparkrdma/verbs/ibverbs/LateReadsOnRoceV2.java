// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;

/** Late READs over RoCE v2 (rxe). */
class LateReadsOnRoceV2 extends LateReads {
  @Override
  protected EngineUnderTest engine() {
    return IbverbsUnderTest.on("GUEST_ROCEV2_ADDRESS", Deviation.OF_ROCE);
  }
}
