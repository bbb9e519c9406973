// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.ibverbs;

import org.sparkrdma.verbs.contract.Deviation;
import org.sparkrdma.verbs.contract.EngineUnderTest;

/** Late READs over iWARP (siw). */
class LateReadsOnIwarp extends LateReads {
  @Override
  protected EngineUnderTest engine() {
    return IbverbsUnderTest.on("GUEST_IWARP_ADDRESS", Deviation.OF_IWARP);
  }
}
