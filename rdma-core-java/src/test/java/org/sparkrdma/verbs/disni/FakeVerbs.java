// SPDX-License-Identifier: Apache-2.0
package org.sparkrdma.verbs.disni;

import com.ibm.disni.verbs.IbvCQ;
import com.ibm.disni.verbs.IbvCompChannel;
import com.ibm.disni.verbs.IbvContext;
import com.ibm.disni.verbs.IbvMr;
import com.ibm.disni.verbs.IbvPd;
import com.ibm.disni.verbs.IbvQP;
import com.ibm.disni.verbs.IbvRecvWR;
import com.ibm.disni.verbs.IbvSendWR;
import com.ibm.disni.verbs.IbvWC;
import com.ibm.disni.verbs.RdmaVerbs;
import com.ibm.disni.verbs.SVCDeregMr;
import com.ibm.disni.verbs.SVCPollCq;
import com.ibm.disni.verbs.SVCPostRecv;
import com.ibm.disni.verbs.SVCPostSend;
import com.ibm.disni.verbs.SVCRegMr;
import com.ibm.disni.verbs.SVCReqNotify;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;

/** The verbs of {@link FakeDisni}. */
final class FakeVerbs extends RdmaVerbs {
  private final FakeDisni disni;

  FakeVerbs(FakeDisni disni) {
    this.disni = disni;
  }

  @Override
  public IbvCompChannel createCompChannel(IbvContext context) throws IOException {
    disni.onCall("create completion channel");
    return new IbvCompChannel(0, context) {};
  }

  @Override
  public int destroyCompChannel(IbvCompChannel channel) throws IOException {
    disni.onCall("destroy completion channel");
    return 0;
  }

  @Override
  public IbvCQ createCQ(IbvContext context, IbvCompChannel channel, int capacity, int vector)
      throws IOException {
    disni.onCall("create queue");
    return new IbvCQ(context, channel, 0);
  }

  @Override
  public int destroyCQ(IbvCQ queue) throws IOException {
    disni.onCall("destroy queue");
    return 0;
  }

  @Override
  public SVCPollCq pollCQ(IbvCQ queue, IbvWC[] completions, int count) throws IOException {
    disni.onCall("prepare poll");
    return new SVCPollCq() {
      @Override
      public int getPolls() {
        return 0;
      }

      @Override
      public SVCPollCq execute() {
        return this;
      }

      @Override
      public boolean isValid() {
        return true;
      }

      @Override
      public SVCPollCq free() {
        disni.calls().add("free poll");
        return this;
      }
    };
  }

  @Override
  public SVCReqNotify reqNotifyCQ(IbvCQ queue, boolean solicited) throws IOException {
    disni.onCall("prepare notification");
    return new SVCReqNotify() {
      @Override
      public SVCReqNotify execute() {
        return this;
      }

      @Override
      public boolean isValid() {
        return true;
      }

      @Override
      public SVCReqNotify free() {
        return this;
      }
    };
  }

  @Override
  public IbvPd allocPd(IbvContext context) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean getCqEvent(IbvCompChannel channel, IbvCQ queue, int timeoutMs) {
    throw new UnsupportedOperationException();
  }

  @Override
  public SVCRegMr regMr(IbvPd domain, ByteBuffer buffer, int access) {
    throw new UnsupportedOperationException();
  }

  @Override
  public SVCRegMr regMr(IbvPd domain, long address, int length, int access) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int queryOdpSupport(IbvContext context) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int expPrefetchMr(IbvMr region, long address, int length) {
    throw new UnsupportedOperationException();
  }

  @Override
  public SVCDeregMr deregMr(IbvMr region) {
    throw new UnsupportedOperationException();
  }

  @Override
  public SVCPostSend postSend(IbvQP queuePair, List<IbvSendWR> work, List<IbvSendWR> failed) {
    throw new UnsupportedOperationException();
  }

  @Override
  public SVCPostRecv postRecv(IbvQP queuePair, List<IbvRecvWR> work, List<IbvRecvWR> failed) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int ackCqEvents(IbvCQ queue, int count) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int deallocPd(IbvPd domain) {
    throw new UnsupportedOperationException();
  }
}
