#include "checker/nearest_name.h"

#include <algorithm>
#include <ctype.h>
#include <numeric>

namespace
{

constexpr size_t kMaxNames = 3;

// The length of a name that is compared. A longer name is not near to any.
constexpr size_t kMaxLength = 64;

// The number of names that a message lists.
constexpr size_t kMaxListed = 24;

// Returns the number of letters to insert, remove, replace or swap. Returns a number above the limit if there are more.
size_t distance(std::string_view a, std::string_view b, size_t limit)
{
    if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit)
        return limit + 1;
    std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    auto same = [](char x, char y) { return tolower(static_cast<unsigned char>(x)) == tolower(static_cast<unsigned char>(y)); };
    for (size_t i = 1; i <= a.size(); i++)
    {
        before.swap(previous);
        previous.swap(row);
        row[0] = i;
        for (size_t j = 1; j <= b.size(); j++)
        {
            row[j] = std::min({previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1)});
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
    }
    return row[b.size()];
}

} // namespace

std::vector<std::string_view> nearest_names(std::string_view name, const std::vector<std::string_view>& known)
{
    std::vector<std::pair<size_t, std::string_view>> near;
    size_t limit = std::max<size_t>(name.size() / 3, 1);
    for (std::string_view candidate : known)
    {
        if (name.size() > kMaxLength || candidate.size() > kMaxLength)
            continue;
        size_t steps = distance(name, candidate, limit);
        if (steps <= limit && steps < std::max(name.size(), candidate.size()))
            near.push_back({steps, candidate});
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    std::vector<std::string_view> names;
    for (size_t index = 0; index < near.size() && index < kMaxNames; index++)
        names.push_back(near[index].second);
    return names;
}

std::string join_names(const std::vector<std::string_view>& names, const char* last, const char* quote)
{
    std::string text;
    for (size_t index = 0; index < names.size(); index++)
    {
        if (index == kMaxListed)
            return text + " and " + std::to_string(names.size() - index) + " more";
        if (index > 0)
            text += index + 1 == names.size() ? last : ", ";
        text.append(quote).append(names[index]).append(quote);
    }
    return text;
}

std::string did_you_mean(std::string_view name, const std::vector<std::string_view>& known)
{
    std::vector<std::string_view> names = nearest_names(name, known);
    return names.empty() ? "" : " (did you mean " + join_names(names, " or ", "'") + "?)";
}
