// One queue discipline of ns-3 at the head of one link. README.md has the commands and the meaning of cells.txt.
//
//   queues DISCIPLINE CELLS RUNS
//
// DISCIPLINE is fq_codel, pie or codel. Prints a CSV line per cell and group of flows: means over the runs.

#include "ns3/core-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{

struct FlowSpec
{
    std::string group; // "bulk" or "sparse": figures are reported per group
    std::string kind;  // "cbr", "window" or "aimd"
    std::map<std::string, int64_t> values;
};

struct Cell
{
    std::string name;
    int64_t rateBps = 0;
    uint32_t limitPkts = 0;
    bool ecn = false;
    std::vector<FlowSpec> flows;
};

std::vector<Cell>
ReadCells(const std::string& path)
{
    std::ifstream file(path);
    NS_ABORT_MSG_IF(!file, "cannot read " << path);
    std::vector<Cell> cells;
    std::string line;
    while (std::getline(file, line))
    {
        std::istringstream words(line);
        std::string word;
        std::string key;
        if (!(words >> word) || word[0] == '#')
        {
            continue;
        }
        if (word == "cell")
        {
            Cell cell;
            words >> cell.name;
            while (words >> key)
            {
                if (key == "ecn")
                {
                    cell.ecn = true;
                }
                else if (key == "rate_bps")
                {
                    words >> cell.rateBps;
                }
                else
                {
                    NS_ABORT_MSG_IF(key != "limit_pkts", "unknown word " << key);
                    words >> cell.limitPkts;
                }
            }
            cells.push_back(cell);
            continue;
        }
        NS_ABORT_MSG_IF(word != "flow", "unknown line " << line);
        FlowSpec flow;
        words >> flow.group >> flow.kind;
        while (words >> key)
        {
            words >> flow.values[key];
        }
        cells.back().flows.push_back(flow);
    }
    return cells;
}

const int64_t DURATION_NS = 60'000'000'000;
const int64_t WARMUP_NS = 5'000'000'000;
const int64_t SHIFT_NS = 1'234'567; // run r starts flow i later by r (i + 1) times this

class Item : public QueueDiscItem
{
  public:
    Item(uint32_t bytes, uint32_t flow, bool ecn)
        : QueueDiscItem(Create<Packet>(bytes), Address(), 0),
          m_flow(flow),
          m_ecn(ecn),
          m_arrived(Simulator::Now())
    {
    }

    void AddHeader() override
    {
    }

    bool Mark() override
    {
        m_marked = m_ecn;
        return m_ecn;
    }

    uint32_t Hash(uint32_t) const override
    {
        return m_flow;
    }

    uint32_t m_flow;
    bool m_ecn;
    bool m_marked = false;
    Time m_arrived;
};

struct Figures
{
    uint64_t in = 0;
    uint64_t dropped = 0;
    uint64_t marked = 0;
    std::vector<int64_t> delaysNs;
};

struct Flow
{
    FlowSpec spec;
    int64_t inFlight = 0;
    int64_t window = 2; // aimd
    int64_t acked = 0;
    int64_t holdUntil = -1;
};

class Bench
{
  public:
    Bench(const Cell& cell, Ptr<QueueDisc> queue, uint32_t run)
        : m_cell(cell),
          m_queue(queue)
    {
        m_queue->TraceConnectWithoutContext("DropBeforeEnqueue", MakeCallback(&Bench::Dropped, this));
        m_queue->TraceConnectWithoutContext("DropAfterDequeue", MakeCallback(&Bench::Dropped, this));
        for (uint32_t i = 0; i < cell.flows.size(); i++)
        {
            Flow flow;
            flow.spec = cell.flows[i];
            if (flow.spec.kind == "window")
            {
                flow.window = flow.spec.values["packets"];
            }
            m_flows.push_back(flow);
            int64_t start = flow.spec.values["start"] + run * (i + 1) * SHIFT_NS;
            m_starts.push_back(start);
            if (flow.spec.kind == "cbr")
            {
                Simulator::Schedule(NanoSeconds(start), &Bench::Cbr, this, i);
            }
            else
            {
                Simulator::Schedule(NanoSeconds(start), &Bench::Fill, this, i);
            }
        }
    }

    std::map<std::string, Figures> m_figures;

  private:
    static int64_t Now()
    {
        return Simulator::Now().GetNanoSeconds();
    }

    // A packet every interval; with on and off, only in the first `on` of each `on + off`.
    void Cbr(uint32_t i)
    {
        auto& values = m_flows[i].spec.values;
        Arrive(i);
        int64_t next = Now() + values["interval"];
        if (values.count("on"))
        {
            int64_t period = values["on"] + values["off"];
            int64_t phase = (next - m_starts[i]) % period;
            if (phase >= values["on"])
            {
                next += period - phase;
            }
        }
        Simulator::Schedule(NanoSeconds(next - Now()), &Bench::Cbr, this, i);
    }

    void Fill(uint32_t i)
    {
        while (m_flows[i].inFlight < m_flows[i].window)
        {
            m_flows[i].inFlight++;
            Arrive(i);
        }
    }

    // One rtt after a packet left the queue or was dropped.
    void Feedback(uint32_t i, bool congested)
    {
        Flow& flow = m_flows[i];
        flow.inFlight--;
        if (flow.spec.kind == "aimd")
        {
            if (!congested)
            {
                if (++flow.acked >= flow.window)
                {
                    flow.window++;
                    flow.acked = 0;
                }
            }
            else if (Now() >= flow.holdUntil)
            {
                flow.window = std::max<int64_t>(1, flow.window / 2);
                flow.acked = 0;
                flow.holdUntil = Now() + flow.spec.values["rtt"];
            }
        }
        Fill(i);
    }

    void Tell(uint32_t i, bool congested)
    {
        if (m_flows[i].spec.kind != "cbr")
        {
            Simulator::Schedule(NanoSeconds(m_flows[i].spec.values["rtt"]), &Bench::Feedback, this, i, congested);
        }
    }

    void Arrive(uint32_t i)
    {
        auto item = Create<Item>(m_flows[i].spec.values["bytes"], i, m_cell.ecn);
        if (Figures* figures = Measured(*item))
        {
            figures->in++;
        }
        m_queue->Enqueue(item);
        if (!m_busy)
        {
            Next();
        }
    }

    void Next()
    {
        auto item = DynamicCast<Item>(m_queue->Dequeue());
        m_busy = item != nullptr;
        if (!m_busy)
        {
            return;
        }
        if (Figures* figures = Measured(*item))
        {
            figures->delaysNs.push_back(Now() - item->m_arrived.GetNanoSeconds());
            figures->marked += item->m_marked;
        }
        int64_t bits = 8 * static_cast<int64_t>(item->GetSize());
        int64_t transmission = (bits * 1'000'000'000 + m_cell.rateBps / 2) / m_cell.rateBps;
        Simulator::Schedule(NanoSeconds(transmission), &Bench::Sent, this, item->m_flow, item->m_marked);
    }

    void Sent(uint32_t i, bool marked)
    {
        Tell(i, marked);
        Next();
    }

    void Dropped(Ptr<const QueueDiscItem> dropped, const char*)
    {
        auto item = DynamicCast<const Item>(dropped);
        if (Figures* figures = Measured(*item))
        {
            figures->dropped++;
        }
        Tell(item->m_flow, true);
    }

    Figures* Measured(const Item& item)
    {
        bool counts = item.m_arrived.GetNanoSeconds() >= WARMUP_NS;
        return counts ? &m_figures[m_flows[item.m_flow].spec.group] : nullptr;
    }

    const Cell& m_cell;
    Ptr<QueueDisc> m_queue;
    std::vector<Flow> m_flows;
    std::vector<int64_t> m_starts;
    bool m_busy = false;
};

Ptr<QueueDisc>
MakeQueue(const std::string& discipline, const Cell& cell)
{
    static const std::map<std::string, std::string> TYPES = {
        {"fq_codel", "ns3::FqCoDelQueueDisc"},
        {"codel", "ns3::CoDelQueueDisc"},
        {"pie", "ns3::PieQueueDisc"},
    };
    ObjectFactory factory(TYPES.at(discipline));
    factory.Set("MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, cell.limitPkts)));
    factory.Set("UseEcn", BooleanValue(cell.ecn));
    auto queue = factory.Create<QueueDisc>();
    if (discipline == "fq_codel")
    {
        DynamicCast<FqCoDelQueueDisc>(queue)->SetQuantum(1514);
    }
    queue->Initialize();
    return queue;
}

// One run of one group: packets in; dropped and marked, percent of them; the delay's median, mean and 95th percentile.
std::array<double, 6>
Summary(Figures figures)
{
    auto& delays = figures.delaysNs;
    std::sort(delays.begin(), delays.end());
    double sum = 0;
    for (int64_t delay : delays)
    {
        sum += delay;
    }
    size_t n = delays.size();
    double in = figures.in;
    double median = n ? delays[(n - 1) / 2] : 0;
    double p95 = n ? delays[(n * 95 + 99) / 100 - 1] : 0;
    return {in, 100 * figures.dropped / in, 100 * figures.marked / in, median / 1e6, sum / n / 1e6, p95 / 1e6};
}

// Mean and sample standard deviation over the runs.
void
Print(const std::string& head, const std::vector<std::array<double, 6>>& runs)
{
    std::cout << head << ',' << runs.size() << std::fixed;
    for (size_t column = 0; column < 6; column++)
    {
        double mean = 0;
        double squares = 0;
        for (auto& run : runs)
        {
            mean += run[column] / runs.size();
        }
        for (auto& run : runs)
        {
            squares += (run[column] - mean) * (run[column] - mean);
        }
        std::cout << ',' << std::setprecision(column ? 4 : 1) << mean;
        if (column)
        {
            std::cout << ',' << (runs.size() > 1 ? std::sqrt(squares / (runs.size() - 1)) : 0);
        }
    }
    std::cout << '\n';
}

} // namespace

int
main(int argc, char* argv[])
{
    std::string discipline;
    std::string path;
    uint32_t runs = 10;
    CommandLine command(__FILE__);
    command.AddNonOption("discipline", "fq_codel, pie or codel", discipline);
    command.AddNonOption("cells", "path of cells.txt", path);
    command.AddNonOption("runs", "number of runs", runs);
    command.Parse(argc, argv);
    std::cout << "discipline,cell,group,runs,in,drop_percent,drop_sd,mark_percent,mark_sd,median_ms,median_sd,"
                 "mean_ms,mean_sd,p95_ms,p95_sd\n";
    for (const Cell& cell : ReadCells(path))
    {
        std::map<std::string, std::vector<std::array<double, 6>>> groups;
        for (uint32_t run = 0; run < runs; run++)
        {
            RngSeedManager::SetSeed(1);
            RngSeedManager::SetRun(run + 1);
            RngSeedManager::ResetNextStreamIndex();
            Bench bench(cell, MakeQueue(discipline, cell), run);
            Simulator::Stop(NanoSeconds(DURATION_NS));
            Simulator::Run();
            Simulator::Destroy();
            Figures all;
            for (auto& [group, figures] : bench.m_figures)
            {
                groups[group].push_back(Summary(figures));
                all.in += figures.in;
                all.dropped += figures.dropped;
                all.marked += figures.marked;
                all.delaysNs.insert(all.delaysNs.end(), figures.delaysNs.begin(), figures.delaysNs.end());
            }
            groups["all"].push_back(Summary(all));
        }
        for (auto& [group, summaries] : groups)
        {
            Print(discipline + ',' + cell.name + ',' + group, summaries);
        }
    }
}
